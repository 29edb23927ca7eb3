"""Upgrades the engine on many instances: obstacles of each instance, and the gates that a wave must pass before the
next.

A gate uses what the control plane knows: incidents, counters, the running version, statement times. A wave passes once
each of its instances has been watched for `settle_seconds` and polled since. A finding of a gate stops the fleet apply,
however many failures that allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from controlplane.alerts.models import Incident
from controlplane.alerts.vocabulary import Severity
from controlplane.fleet.models import Instance
from controlplane.fleet.states import Provider, State
from controlplane.metrics.models import Latest
from controlplane.prerequisites.gate import engine_obstacle
from controlplane.rollouts.latency import Latency, latency_of
from controlplane.rollouts.models import FleetApply, FleetApplyItem
from controlplane.rollouts.planning import ItemPreview
from controlplane.settings.selectors import settings_get

MISSED_POLLS = 3  # polls missed in a row after the time of watching; then the instance counts as silent


def preview_upgrade(
    instances: Sequence[Instance], minor_version: int | None, *, allow_restart: bool
) -> list[ItemPreview]:
    incidents = _critical(each.pk for each in instances)
    previews = []
    for instance in instances:
        restarts = instance.minor_version not in (None, minor_version)
        blocking = _blocking(instance, incidents.get(instance.pk))
        if restarts and not allow_restart:
            blocking.append("a restart loads the new engine; needed: allow_restart")
        lines = _lines(instance.minor_version, minor_version)
        previews.append(ItemPreview(instance, lines, restarts, needs_admin=False, blocking=blocking))
    return previews


def _lines(old: int | None, new: int | None) -> list[dict[str, Any]]:
    """Returns the change of the engine's minor version as the lines of a preview; none if that version runs already.

    `old` is None if there is no engine.
    """
    if old == new:
        return []
    line = {"name": "fqc_minor_version", "unit": "", "old_submitted": None, "new_submitted": None}
    return [line | {"old_value": old and str(old), "new_value": str(new), "needs_restart": old is not None}]


def _blocking(instance: Instance, incident: str | None) -> list[str]:
    found = []
    if instance.provider != Provider.LOCAL:
        found.append("the server is not run by this control plane; needed: install the engine with its own tools")
    elif obstacle := engine_obstacle(instance):
        found.append(obstacle)
    if instance.state != State.RUNNING:
        found.append(f"it is {instance.state}; needed: {State.RUNNING.value}")
    if incident:
        found.append(f"a critical incident is open: {incident}; needed: none")
    return found


def _critical(instances: Iterable[str]) -> dict[str | None, str]:
    """Returns, by instance id, the rule's name of an open critical incident, for the instances that have one."""
    found = Incident.objects.filter(instance__in=list(instances), resolved_at=None, severity=Severity.CRITICAL)
    return dict(found.values_list("instance_id", "rule_name"))


class Wave:
    """The instances that an upgrade has reached and that have not passed its checks (gates) yet; the next ones wait for
    them.
    """

    def __init__(self, row: FleetApply, items: Sequence[FleetApplyItem]) -> None:
        self._row, self._items, self._now = row, items, timezone.now()
        ids = [item.instance_id for item in items if item.instance_id]
        self._incidents = _critical(ids)
        self._latest = Latest.objects.in_bulk(ids)
        watched = [item for item in items if row.max_p95_percent is not None and self._is_watched(item)]
        self.latencies = {item.pk: self._latency(item) for item in watched if item.instance_id}

    def failures(self) -> dict[int, str]:
        """Returns, by item id, why an instance has failed the checks; empty if none has."""
        return {item.pk: found for item in self._items if (found := self._found(item))}

    def is_over(self) -> bool:
        return all(self._is_watched(item) for item in self._items)

    def _found(self, item: FleetApplyItem) -> str:
        instance, latest = item.instance, self._latest.get(item.instance_id)
        if instance is None:
            return ""
        if incident := self._incidents.get(instance.pk):
            return f"a critical incident is open: {incident}"
        if instance.state not in (State.RUNNING, State.CHANGING):
            return f"it is {instance.state}"
        if instance.minor_version != self._row.minor_version:
            return f"it runs the engine's minor version {instance.minor_version}, not {self._row.minor_version}"
        # The new engine counts from zero when it is loaded.
        differences = int(latest.readings.get("differences") or 0) if latest and self._is_heard(item) else 0
        if differences:
            return f"{differences} results differed from the server's answer (Fqc_differences)"
        if (latency := self.latencies.get(item.pk)) and (slowdown := latency.slowdown(self._row.max_p95_percent or 0)):
            return slowdown
        is_late = self._watched_until(item) + _patience() < self._now
        return "it has not answered a poll since" if is_late and not self._is_watched(item) else ""

    def _is_heard(self, item: FleetApplyItem) -> bool:
        return self._is_polled_since(item, _ended(item))

    def _is_watched(self, item: FleetApplyItem) -> bool:
        """Returns whether the instance's time of watching is over and a poll has followed, so that all samples of that
        time exist.
        """
        until = self._watched_until(item)
        return until <= self._now and self._is_polled_since(item, until)

    def _is_polled_since(self, item: FleetApplyItem, moment: datetime) -> bool:
        latest = self._latest.get(item.instance_id)
        return item.instance is None or (latest is not None and latest.at > moment.timestamp())

    def _latency(self, item: FleetApplyItem) -> Latency:
        begun = item.dispatched_at or _ended(item)
        return latency_of(item.instance_id or "", begun, _ended(item), self._watched_until(item))

    def _watched_until(self, item: FleetApplyItem) -> datetime:
        return _ended(item) + timedelta(seconds=self._row.settle_seconds)


def _ended(item: FleetApplyItem) -> datetime:
    return item.finished_at or timezone.now()


def _patience() -> timedelta:
    return timedelta(seconds=60 + MISSED_POLLS * settings_get().poll_interval_seconds)
