"""Deletes audit events past their retention. One new event records which and how many were deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Min, QuerySet

from controlplane.audit.models import AuditEvent
from controlplane.audit.services import WHOLE_TRAIL, audit_record
from controlplane.core.purging import batches, removed
from controlplane.core.retention import retention_now


def audit_expire() -> int:
    """Deletes events past their retention, in batches, and returns their number.

    With a retention of 0 days nothing is deleted.
    """
    days = settings.AUDIT_RETENTION_DAYS
    old = AuditEvent.objects.filter(created_at__lt=retention_now("audit") - timedelta(days=days))
    told: AuditEvent | None = None
    if days:
        for batch in batches(old, "created_at"):
            told = _remove(batch, told)
    return told.after["count"] if told else 0


@transaction.atomic
def _remove(batch: QuerySet[AuditEvent], told: AuditEvent | None) -> AuditEvent | None:
    """Deletes a batch of events and writes or updates `told`, the event about this purge, in the same transaction,
    since the purge may be interrupted at any time.

    Returns that event; None if nothing was deleted so far.
    """
    span = batch.aggregate(first=Min("created_at"), last=Max("created_at"))
    count = removed(batch)
    if not count:
        return told  # another purge was first
    facts: dict[str, Any] = {"from": span["first"].isoformat(), "to": span["last"].isoformat(), "count": count}
    if told is None:
        return audit_record("audit.purged", WHOLE_TRAIL, after=facts)
    told.after = {**told.after, "to": facts["to"], "count": told.after["count"] + count}
    told.save(update_fields=["after"])
    return told
