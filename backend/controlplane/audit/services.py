"""The one way to write the audit trail, of one thing or of many at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Any

from django.db import transaction

from controlplane.audit.models import AuditEvent
from controlplane.audit.redaction import redacted
from controlplane.core import idempotency
from controlplane.core.request_context import Caller, caller

WHOLE_TRAIL = AuditEvent(pk="all")  # the target of actions on the trail itself


def audit_record(
    action: str, target: Any, *, before: dict[str, Any] | None = None, after: dict[str, Any] | None = None
) -> AuditEvent:
    """Adds an audit event for the present caller about `target`, a model's row, and its facts before and after.

    Must be called in the transaction of the change, so that neither exists without the other; raises RuntimeError
    outside of one.
    """
    _refuse_outside_transaction(action)
    event = _event(action, target, before, after)
    event.save(force_insert=True)
    idempotency.act(f"{event.target_type} {event.target_id}")
    return event


def audits_record(action: str, outcomes: Iterable[tuple[Any, dict[str, Any]]]) -> None:
    """Adds one audit event per target for the same action.

    `outcomes` has each target with its facts afterwards. Must be called in the transaction of the changes.
    """
    _refuse_outside_transaction(action)
    events = AuditEvent.objects.bulk_create(_event(action, target, None, after) for target, after in outcomes)
    if events:
        idempotency.act(f"{events[0].target_type} {events[0].target_id} and others")


def audit_count(who: Caller, actions: Iterable[str], since: datetime, most: int) -> int:
    """Returns how often the caller has done one of these actions since then, counting no further than `most`."""
    found = AuditEvent.objects.filter(actor=who.actor, actor_id=who.actor_id, action__in=actions, created_at__gte=since)
    return found[:most].count()


def _refuse_outside_transaction(action: str) -> None:
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError(f"audit of {action} outside a transaction: wrap the change and its audit in atomic()")


def _event(action: str, target: Any, before: dict[str, Any] | None, after: dict[str, Any] | None) -> AuditEvent:
    who = caller()
    return AuditEvent(
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


@transaction.atomic
def audit_export(since: datetime, until: datetime, form: str) -> AsyncIterator[str]:
    from controlplane.audit.export import export  # loads the REST framework, which no worker needs

    facts = {"since": since.isoformat(), "until": until.isoformat(), "format": form}
    audit_record("audit.exported", WHOLE_TRAIL, after=facts)
    return export(since, until, form)
