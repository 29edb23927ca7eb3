"""Housekeeping of what accounts keep."""

from __future__ import annotations

from celery import shared_task

from controlplane.accounts.expiring import access_expire


@shared_task(name="accounts.expire")
def expire() -> None:
    access_expire()
