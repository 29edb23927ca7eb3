"""The one way to write the audit trail."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from controlplane.audit.models import AuditEvent
from controlplane.audit.redaction import redacted
from controlplane.core.request_context import caller


def audit_record(
    action: str, target: Any, *, before: dict[str, Any] | None = None, after: dict[str, Any] | None = None
) -> AuditEvent:
    """Must be called inside the transaction of the change, so that neither exists without the other."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError(f"audit of {action} outside a transaction: wrap the change and its audit in atomic()")
    who = caller()
    return AuditEvent.objects.create(
        actor=who.actor,
        actor_id=who.actor_id,
        token_prefix=who.token_prefix,
        address=who.address,
        request_id=who.request_id,
        action=action,
        target_type=target._meta.model_name,
        target_id=str(target.pk),
        target_name=str(getattr(target, "name", "") or getattr(target, "username", "")),
        before=redacted(before),
        after=redacted(after),
    )
