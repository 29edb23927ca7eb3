"""Telling of a transition: the incident and its timeline, the audit trail, the browsers, and a mail unless silenced.

Everything happens in the caller's transaction, so none of it exists without the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import transaction

from controlplane.alerts import letters
from controlplane.alerts.mailing import incidents_page, mail_queue
from controlplane.alerts.models import AlertRule, Incident, IncidentEvent
from controlplane.alerts.phases import OPENED, REMINDED, RESOLVED
from controlplane.alerts.selectors import silence_in_force
from controlplane.alerts.services import incident_resolve
from controlplane.alerts.vocabulary import EventKind
from controlplane.audit.services import audit_record
from controlplane.core.events import event_publish
from controlplane.fleet.models import Instance
from controlplane.metrics.definitions import METRICS
from controlplane.settings.selectors import settings_get


@dataclass(frozen=True)
class Told:
    rule: AlertRule
    instance: Instance
    transition: str
    threshold: float
    value: float | None
    now: float

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)


def incident_tell(told: Told) -> None:
    incident = _opened(told) if told.transition == OPENED else _open_incident(told)
    if incident is None:
        return
    if told.transition == REMINDED:
        _remind(incident, told)
    elif told.transition == RESOLVED:
        incident_resolve(incident=incident, at=told.at, value=told.value)
    event_publish("incident", incident.pk, {"transition": told.transition, "instance_id": told.instance.pk})
    _mail(incident, told)


@transaction.atomic
def incidents_abandon(at: datetime) -> None:
    """An instance that was deleted can never recover: what is open on it ends, without a mail."""
    for incident in Incident.objects.select_for_update().filter(instance=None, resolved_at=None):
        incident_resolve(incident=incident, at=at, detail="the instance was deleted")


def _opened(told: Told) -> Incident:
    rule, instance = told.rule, told.instance
    incident = Incident.objects.create(
        rule=rule, instance=instance, rule_name=rule.name, instance_name=instance.name, metric=rule.metric,
        comparison=rule.comparison, threshold=told.threshold, severity=rule.severity,
        opened_value=told.value, last_value=told.value, opened_at=told.at,
    )  # fmt: skip
    IncidentEvent.objects.create(incident=incident, at=told.at, kind=EventKind.OPENED, value=told.value)
    facts = {"rule": rule.name, "instance": instance.name, "value": told.value, "threshold": told.threshold}
    audit_record("incident.opened", incident, after=facts)
    return incident


def _open_incident(told: Told) -> Incident | None:
    """None: its rule or instance was edited away meanwhile, and it was resolved with it."""
    return Incident.objects.filter(rule=told.rule, instance=told.instance, resolved_at=None).first()


def _remind(incident: Incident, told: Told) -> None:
    incident.last_value = told.value
    incident.save(update_fields=["last_value"])
    IncidentEvent.objects.create(incident=incident, at=told.at, kind=EventKind.REMINDED, value=told.value)
    audit_record("incident.reminded", incident, after={"value": told.value})


def _mail(incident: Incident, told: Told) -> None:
    silence = silence_in_force(told.rule, told.instance, told.at)
    if silence is not None:
        detail = f"no mail until {silence.ends_at:%Y-%m-%d %H:%M} UTC: {silence.reason}"
        IncidentEvent.objects.create(incident=incident, at=told.at, kind=EventKind.SILENCED, detail=detail)
        return
    recipients = told.rule.recipients or settings_get().mail_to
    if recipients and settings_get().smtp_host:
        name = f"{REMINDED}.{int(told.now)}" if told.transition == REMINDED else told.transition
        mail_queue(incident=incident, transition=name, letter=_letter(incident, told), recipients=recipients)


def _letter(incident: Incident, told: Told) -> letters.Letter:
    metric = METRICS[incident.metric]
    return letters.incident_letter(
        letters.Facts(
            transition=told.transition,
            rule=incident.rule_name,
            severity=incident.severity,
            instance=incident.instance_name,
            metric=metric.title,
            formula=metric.formula,
            unit=metric.unit,
            comparison=incident.comparison,
            threshold=incident.threshold,
            value=told.value,
            for_seconds=told.rule.for_seconds,
            opened_at=incident.opened_at,
            at=told.at,
            link=f"{incidents_page()}?incident={incident.pk}",
        )
    )
