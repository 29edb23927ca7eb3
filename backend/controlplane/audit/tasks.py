"""Tasks that expire audit events."""

from __future__ import annotations

from celery import shared_task

from controlplane.audit.expiring import audit_expire


@shared_task(name="audit.expire")
def expire() -> None:
    audit_expire()
