"""Events that are old enough go, and one new event says which and how many."""

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
    """How many went. 0 days: they stay for ever."""
    days = settings.AUDIT_RETENTION_DAYS
    old = AuditEvent.objects.filter(created_at__lt=retention_now("audit") - timedelta(days=days))
    told: AuditEvent | None = None
    if days:
        for batch in batches(old, "created_at"):
            told = _remove(batch, told)
    return told.after["count"] if told else 0


@transaction.atomic
def _remove(batch: QuerySet[AuditEvent], told: AuditEvent | None) -> AuditEvent | None:
    """The event of this purge says, after each batch, what is gone by then: it may be ended at any moment."""
    span = batch.aggregate(first=Min("created_at"), last=Max("created_at"))
    count = removed(batch)
    if not count:
        return told  # another purge came first
    facts: dict[str, Any] = {"from": span["first"].isoformat(), "to": span["last"].isoformat(), "count": count}
    if told is None:
        return audit_record("audit.purged", WHOLE_TRAIL, after=facts)
    told.after = {**told.after, "to": facts["to"], "count": told.after["count"] + count}
    told.save(update_fields=["after"])
    return told
