"""Preview of when a rule would have fired in the past day: the same pure steps, applied to the minute rollups.

States have no rollups, so for them a preview only shows the present state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.utils import timezone

from controlplane.alerts.judging import columns_of, condition_of, judged
from controlplane.alerts.models import AlertRule
from controlplane.alerts.phases import OPENED, RESOLVED, Condition, RuleState, step
from controlplane.alerts.readings import state_reading
from controlplane.alerts.selectors import rule_instances
from controlplane.alerts.states import STATES, VALUE
from controlplane.fleet.models import Instance
from controlplane.metrics.models import MinuteRollup

HOURS, MINUTE = 24, 60
MOST_INSTANCES = 200  # a day of minutes each; more would take too long


@dataclass
class Firing:
    instance_id: str
    instance_name: str
    opened_at: datetime
    opened_value: float | None
    resolved_at: datetime | None = None


def rule_preview(fields: dict[str, Any]) -> dict[str, Any]:
    overrides = {each["instance_id"]: each for each in fields.pop("overrides")}
    rule = AlertRule(**fields)
    scope = rule_instances(rule)
    examined = list(scope.order_by("name")[:MOST_INSTANCES])
    return {
        "hours": 0 if rule.metric in STATES else HOURS,
        "instance_count": scope.count(),
        "examined_count": len(examined),
        "firings": _firings(rule, examined, overrides),
    }


def _firings(rule: AlertRule, instances: list[Instance], overrides: dict[str, dict[str, Any]]) -> list[Firing]:
    if rule.metric in STATES:
        return list(_holding(rule, instances, overrides))
    by_id = {instance.pk: instance for instance in instances}
    found: list[Firing] = []
    for instance_id, minutes in groupby(_minutes(rule.metric, list(by_id)), key=itemgetter("instance_id")):
        override = overrides.get(instance_id, {})
        if not override.get("is_exempt"):
            found += _replayed(condition_of(rule, override.get("threshold")), rule.metric, by_id[instance_id], minutes)
    return found


def _holding(rule: AlertRule, instances: list[Instance], overrides: dict[str, dict[str, Any]]) -> Iterator[Firing]:
    now = timezone.now()
    reading = state_reading(rule.metric, now.timestamp())
    for instance in instances:
        override = overrides.get(instance.pk, {})
        seen, _ = reading.of(instance.pk)
        value, is_broken = judged(condition_of(rule, override.get("threshold")), rule.metric, {VALUE: seen})
        if is_broken and not override.get("is_exempt"):
            yield Firing(instance.pk, instance.name, now, value)


def _minutes(metric: str, instance_ids: list[str]) -> Iterator[dict[str, Any]]:
    since = int(timezone.now().timestamp()) - HOURS * 3600
    rows = MinuteRollup.objects.filter(instance_id__in=instance_ids, at__gte=since).order_by("instance_id", "at")
    return rows.values("instance_id", "at", *sorted(columns_of(metric))).iterator()


def _replayed(
    condition: Condition, metric: str, instance: Instance, minutes: Iterator[dict[str, Any]]
) -> Iterator[Firing]:
    stand, firing = RuleState(), None
    for row in minutes:
        end = row["at"] + MINUTE
        value, broken = judged(condition, metric, row)
        stand, transition = step(stand, condition, broken, min(row["seconds"], MINUTE))
        if transition == OPENED:
            firing = Firing(instance.pk, instance.name, _moment(end), value)
        elif transition == RESOLVED and firing:
            firing.resolved_at = _moment(end)
            yield firing
            firing = None
    if firing:
        yield firing


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
