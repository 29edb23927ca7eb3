"""Changes to rules, silences and incidents by people, each with its audit event."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.alerts.incidents import rule_leave
from controlplane.alerts.models import AlertRule, Incident, IncidentEvent, RuleOverride, Silence
from controlplane.alerts.selectors import rule_get
from controlplane.alerts.vocabulary import EventKind
from controlplane.audit.services import audit_record
from controlplane.core.errors import Conflict, Invalid
from controlplane.core.etag import ANY_VERSION, IfMatch, row_held
from controlplane.core.request_context import caller
from controlplane.core.unique_names import name_claimed
from controlplane.fleet.models import Instance

FACTS = (
    "name", "description", "metric", "comparison", "threshold", "for_seconds", "minimum_traffic", "reminder_seconds",
    "severity", "scope", "tags", "instance_id", "recipients", "is_enabled",
)  # fmt: skip


@transaction.atomic
def rule_create(*, overrides: list[dict[str, Any]], **fields: Any) -> AlertRule:
    _check(fields, overrides)
    with name_claimed(AlertRule.objects.all(), "a rule", fields["name"]):
        rule = AlertRule.objects.create(**fields)
    _override(rule, overrides)
    audit_record("alert_rule.created", rule, after=_facts(rule))
    return rule_get(rule.pk)


@transaction.atomic
def rule_update(
    *, rule: AlertRule, overrides: list[dict[str, Any]] | None = None, expected: IfMatch = ANY_VERSION, **fields: Any
) -> AlertRule:
    rule = row_held(rule, expected)
    before = _facts(rule)
    _check(fields, overrides or [])
    for name, value in fields.items():
        setattr(rule, name, value)
    rule.version += 1
    with name_claimed(AlertRule.objects.exclude(pk=rule.pk), "a rule", rule.name):
        rule.save()
    if overrides is not None:
        _override(rule, overrides)
    # Pending standings were reached under the old condition, so they start again. Open incidents stay.
    rule.standings.filter(phase="pending").delete()
    audit_record("alert_rule.updated", rule, before=before, after=_facts(rule))
    return rule_get(rule.pk)


@transaction.atomic
def rule_delete(*, rule: AlertRule, expected: IfMatch = ANY_VERSION) -> None:
    rule = row_held(rule, expected)
    rule_leave(rule)
    audit_record("alert_rule.deleted", rule, before=_facts(rule))
    rule.delete()


@transaction.atomic
def silence_create(
    *, reason: str, duration_seconds: int, starts_at: datetime | None = None, tags: dict[str, str] | None = None,
    rule_id: str | None = None, instance_id: str | None = None,
) -> Silence:  # fmt: skip
    if rule_id and not AlertRule.objects.filter(pk=rule_id).exists():
        raise Invalid.field("rule_id", f"there is no alert rule {rule_id}")
    _check_instances("instance_id", [instance_id] if instance_id else [])
    starts_at = starts_at or timezone.now()
    silence = Silence.objects.create(
        rule_id=rule_id, instance_id=instance_id, tags=tags or {}, reason=reason, created_by=caller().actor,
        starts_at=starts_at, ends_at=starts_at + timedelta(seconds=duration_seconds),
    )  # fmt: skip
    audit_record("silence.created", silence, after=_silence_facts(silence))
    return silence


@transaction.atomic
def silence_end(*, silence: Silence) -> None:
    """Ends a silence now. Its row is kept, so that history shows who silenced what."""
    silence = row_held(silence)
    before = _silence_facts(silence)
    now = timezone.now()
    silence.starts_at, silence.ends_at = min(silence.starts_at, now), min(silence.ends_at, now)
    silence.save(update_fields=["starts_at", "ends_at"])
    audit_record("silence.ended", silence, before=before, after=_silence_facts(silence))


@transaction.atomic
def incident_acknowledge(*, incident: Incident) -> Incident:
    incident = row_held(incident)
    if incident.acknowledged_at:
        raise Conflict(f"{incident.acknowledged_by} has already acknowledged it.", code="acknowledged_already")
    incident.acknowledged_at, incident.acknowledged_by = timezone.now(), caller().actor
    incident.save(update_fields=["acknowledged_at", "acknowledged_by"])
    IncidentEvent.objects.create(
        incident=incident, at=incident.acknowledged_at, kind=EventKind.ACKNOWLEDGED, detail=caller().actor
    )
    audit_record("incident.acknowledged", incident, after={"by": caller().actor})
    return incident


def _check(fields: dict[str, Any], overrides: list[dict[str, Any]]) -> None:
    _check_instances("instance_id", [fields["instance_id"]] if fields.get("instance_id") else [])
    _check_instances("overrides", [override["instance_id"] for override in overrides])


def _check_instances(field: str, ids: list[str]) -> None:
    missing = sorted(set(ids) - set(Instance.objects.filter(pk__in=ids).values_list("pk", flat=True)))
    if missing:
        raise Invalid.field(field, f"there is no instance {', '.join(missing)}")


def _override(rule: AlertRule, overrides: list[dict[str, Any]]) -> None:
    rule.overrides.all().delete()
    RuleOverride.objects.bulk_create([RuleOverride(rule=rule, **override) for override in overrides])


def _facts(rule: AlertRule) -> dict[str, Any]:
    overrides = list(rule.overrides.values("instance_id", "threshold", "is_exempt"))
    return {**{name: getattr(rule, name) for name in FACTS}, "overrides": overrides}


def _silence_facts(silence: Silence) -> dict[str, Any]:
    facts = {name: getattr(silence, name) for name in ("rule_id", "instance_id", "tags", "reason")}
    return {**facts, "starts_at": silence.starts_at.isoformat(), "ends_at": silence.ends_at.isoformat()}
