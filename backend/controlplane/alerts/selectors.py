"""Reading alerts."""

from __future__ import annotations

from datetime import datetime

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from controlplane.alerts.models import AlertRule, Channel, Incident, Silence
from controlplane.alerts.vocabulary import Scope
from controlplane.core.errors import NotFound
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import instance_list, instance_tagged


def rule_list() -> QuerySet[AlertRule]:
    return AlertRule.objects.select_related("instance").prefetch_related("overrides")


def rule_get(pk: str) -> AlertRule:
    found = rule_list().filter(Q(pk=pk) | Q(name=pk)).first()
    if found is None:
        raise NotFound(f"There is no alert rule {pk}. It may have been deleted: see the list.")
    return found


def rule_instances(rule: AlertRule) -> QuerySet[Instance]:
    if rule.scope == Scope.INSTANCE:
        return instance_list().filter(pk=rule.instance_id)
    if rule.scope == Scope.TAGS:
        return instance_tagged(rule.tags)
    return instance_list()


def incident_list() -> QuerySet[Incident]:
    return Incident.objects.all()


def incident_get(pk: str) -> Incident:
    found = Incident.objects.filter(pk=pk).first()
    if found is None:
        raise NotFound(f"There is no incident {pk}. It may have been deleted: see the list.")
    return found


def channel_list() -> QuerySet[Channel]:
    return Channel.objects.all()


def channel_get(pk: str) -> Channel:
    found = Channel.objects.filter(Q(pk=pk) | Q(name=pk)).first()
    if found is None:
        raise NotFound(f"There is no channel {pk}. It may have been deleted: see the list.")
    return found


def silence_list() -> QuerySet[Silence]:
    return Silence.objects.all()


def silence_get(pk: str) -> Silence:
    found = Silence.objects.filter(pk=pk).first()
    if found is None:
        raise NotFound(f"There is no silence {pk}. It may have been deleted: see the list.")
    return found


def silence_in_force_filter(queryset: QuerySet[Silence], value: bool) -> QuerySet[Silence]:
    in_force = _in_force(timezone.now())
    return queryset.filter(in_force if value else ~in_force)


def _in_force(now: datetime) -> Q:
    """Returns the condition for silences in force at `now`.

    One that started when it was made stays in force if the clock is set back to before that.
    """
    has_begun = Q(starts_at__lte=now) | Q(created_at__gt=now, starts_at__lte=F("created_at"))
    return has_begun & Q(ends_at__gt=now)


def silences_in_force(now: datetime) -> list[Silence]:
    return list(Silence.objects.filter(_in_force(now)))


def covers(silence: Silence, rule: AlertRule, instance: Instance) -> bool:
    """Returns whether the silence suppresses messages about this rule on this instance.

    A silence without rule, instance or tags applies to any.
    """
    return (
        silence.rule_id in (None, rule.pk)
        and silence.instance_id in (None, instance.pk)
        and silence.tags.items() <= instance.tags.items()
    )
