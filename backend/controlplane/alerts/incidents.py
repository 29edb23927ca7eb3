"""Reports transitions of alerts: the incident and its timeline, the audit trail, events for browsers, and messages
unless silenced.

All of it is written in the caller's transaction, so that none exists without the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from controlplane.alerts import letters
from controlplane.alerts.advice import advice_of
from controlplane.alerts.letters import ENDED
from controlplane.alerts.mailing import incidents_page, mail_of, mails_queue
from controlplane.alerts.models import AlertRule, Channel, Incident, IncidentEvent
from controlplane.alerts.notifying import notification_of, notifications_queue
from controlplane.alerts.phases import OPENED, REMINDED, RESOLVED
from controlplane.alerts.selectors import covers, silences_in_force
from controlplane.alerts.states import MEASURES
from controlplane.alerts.vocabulary import ChannelKind, EventKind
from controlplane.audit.services import audits_record
from controlplane.core.events import events_publish
from controlplane.fleet.models import Instance
from controlplane.settings.selectors import settings_get


@dataclass(frozen=True)
class IncidentTransition:
    rule: AlertRule
    instance: Instance
    transition: str
    threshold: float
    value: float | None
    now: float
    why: str = ""  # why an incident ended without recovery, since nothing watches it any more
    detail: str = ""  # what was observed, for rules on a state

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)


Pairs = list[tuple[Incident, IncidentTransition]]


def transitions_apply(told: Sequence[IncidentTransition]) -> None:
    """Reports transitions: opens, reminds of and resolves incidents, with timeline, audit, events and messages.

    Takes a fixed number of statements for any number of them. Must be called in a transaction.
    """
    pairs = _opened([each for each in told if each.transition == OPENED])
    pairs += _still_open([each for each in told if each.transition != OPENED])
    _remind([pair for pair in pairs if pair[1].transition == REMINDED])
    _resolve([pair for pair in pairs if pair[1].transition == RESOLVED])
    events_publish(
        "incident",
        [(incident.pk, {"transition": each.transition, "instance_id": each.instance.pk}) for incident, each in pairs],
    )
    _send(pairs)


def rule_leave(rule: AlertRule) -> None:
    """Resolves a rule's open incidents. Must be called before the rule is deleted, in the same transaction."""
    _end_open(rule.incidents.all(), "the rule was deleted")


def instance_leave(instance: Instance) -> None:
    """Resolves an instance's open incidents.

    Must be called before the instance is deleted, in the same transaction, since afterwards its tags are gone and
    matching silences cannot be found.
    """
    _end_open(instance.incidents.all(), "the instance was deleted")


def _end_open(incidents: QuerySet[Incident], why: str) -> None:
    now = timezone.now().timestamp()
    told = [
        IncidentTransition(each.rule, each.instance, RESOLVED, each.threshold, None, now, why)
        for each in incidents.filter(resolved_at=None).select_related("rule", "instance")
        if each.rule and each.instance
    ]
    if told:
        transitions_apply(told)


def _opened(told: list[IncidentTransition]) -> Pairs:
    if not told:
        return []
    incidents = Incident.objects.bulk_create(
        Incident(
            rule=each.rule, instance=each.instance, rule_name=each.rule.name, instance_name=each.instance.name,
            metric=each.rule.metric, comparison=each.rule.comparison, threshold=each.threshold,
            severity=each.rule.severity, opened_value=each.value, last_value=each.value, opened_at=each.at,
        )
        for each in told
    )  # fmt: skip
    pairs = list(zip(incidents, told, strict=True))
    _note(pairs, EventKind.OPENED)
    audits_record("incident.opened", [(incident, _facts(each)) for incident, each in pairs])
    return pairs


def _facts(told: IncidentTransition) -> dict[str, Any]:
    return {
        "rule": told.rule.name, "instance": told.instance.name, "value": told.value, "threshold": told.threshold
    }  # fmt: skip


def _still_open(told: list[IncidentTransition]) -> Pairs:
    """Returns the transitions with their open incidents.

    Those whose incident was resolved in the meantime, because the rule or instance was edited, are left out.
    """
    if not told:
        return []
    rules, instances = {each.rule.pk for each in told}, {each.instance.pk for each in told}
    found = Incident.objects.filter(resolved_at=None, rule_id__in=rules, instance_id__in=instances)
    open_ones = {(incident.rule_id, incident.instance_id): incident for incident in found}
    keyed = [(open_ones.get((each.rule.pk, each.instance.pk)), each) for each in told]
    return [(incident, each) for incident, each in keyed if incident is not None]


def _remind(pairs: Pairs) -> None:
    if not pairs:
        return
    for incident, told in pairs:
        incident.last_value = told.value
    Incident.objects.bulk_update([incident for incident, _ in pairs], ["last_value"])
    _note(pairs, EventKind.REMINDED)
    audits_record("incident.reminded", [(incident, {"value": told.value}) for incident, told in pairs])


def _resolve(pairs: Pairs) -> None:
    if not pairs:
        return
    for incident, told in pairs:
        incident.resolved_at = told.at
        incident.last_value = told.value if told.value is not None else incident.last_value
    Incident.objects.bulk_update([incident for incident, _ in pairs], ["resolved_at", "last_value"])
    _note(pairs, EventKind.RESOLVED)
    audits_record(
        "incident.resolved", [(incident, {"value": told.value, "detail": told.why}) for incident, told in pairs]
    )


def _note(pairs: Pairs, kind: EventKind) -> None:
    IncidentEvent.objects.bulk_create(
        IncidentEvent(
            incident=incident, at=told.at, kind=kind, value=told.value, detail=(told.why or told.detail)[:500]
        )
        for incident, told in pairs
    )


def _send(pairs: Pairs) -> None:
    """Queues the mails and notifications about these incidents.

    If a silence applies, the timeline says so instead; reminders of acknowledged incidents are left out.
    """
    if not pairs:
        return
    silences, settings = silences_in_force(pairs[0][1].at), settings_get()
    channels = list(Channel.objects.filter(is_enabled=True))
    silenced, mails, notifications = [], [], []
    for incident, told in pairs:
        if told.transition == REMINDED and incident.acknowledged_at:
            continue  # a user has acknowledged the incident
        silence = next((each for each in silences if covers(each, told.rule, told.instance)), None)
        if silence is not None:
            detail = f"no messages until {silence.ends_at:%Y-%m-%d %H:%M} UTC: {silence.reason}"
            silenced.append(IncidentEvent(incident=incident, at=told.at, kind=EventKind.SILENCED, detail=detail))
            continue
        facts, name = _incident_facts(incident, told), _name(told)
        taking = [each for each in channels if each.takes(told.rule.severity, told.instance.tags)]
        recipients = _recipients(told.rule.recipients or settings.mail_to, taking)
        if recipients and settings.smtp_host:
            content = letters.incident_content(facts)
            mails.append(mail_of(incident=incident, transition=name, content=content, recipients=recipients))
        notifications += [
            notification_of(channel=each, incident=incident, transition=name, facts=facts, tags=told.instance.tags)
            for each in taking
            if each.kind != ChannelKind.MAIL
        ]
    IncidentEvent.objects.bulk_create(silenced)
    mails_queue(mails)
    notifications_queue(notifications)


def _recipients(usual: list[str], channels: list[Channel]) -> list[str]:
    """Returns the usual recipients and those of mail channels, each once."""
    added = [to for each in channels if each.kind == ChannelKind.MAIL for to in each.recipients]
    return list(dict.fromkeys([*usual, *added]))


def _name(told: IncidentTransition) -> str:
    """Returns the name of a transition that is unique within its incident, so that each is mailed once.

    A reminder is one of many, so its name includes the time.
    """
    return f"{REMINDED}.{int(told.now)}" if told.transition == REMINDED else _transition(told)


def _transition(told: IncidentTransition) -> str:
    """Returns the transition as mails name it: `ended` if the incident was resolved without recovery."""
    return ENDED if told.why else told.transition


def _incident_facts(incident: Incident, told: IncidentTransition) -> letters.IncidentFacts:
    metric, advice = MEASURES[incident.metric], advice_of(incident.metric)
    return letters.IncidentFacts(
        transition=_transition(told),
        rule=incident.rule_name,
        severity=incident.severity,
        instance=incident.instance_name,
        metric=metric.title,
        formula=metric.formula,
        unit=metric.unit,
        comparison=incident.comparison,
        threshold=incident.threshold,
        value=incident.last_value if told.why else told.value,
        for_seconds=told.rule.for_seconds,
        opened_at=incident.opened_at,
        at=told.at,
        why=told.why,
        is_state=metric.kind == "state" and (incident.comparison, incident.threshold) == ("gt", 0),
        seen=told.detail,
        cause=advice.cause,
        action=advice.action,
        link=f"{incidents_page()}?incident={incident.pk}",
    )
