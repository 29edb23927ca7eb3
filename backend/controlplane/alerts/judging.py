"""Judges whether a rule's condition holds for given sums.

Shared by the evaluation and by the preview of the past day.
"""

from __future__ import annotations

from collections.abc import Mapping

from controlplane.alerts.models import AlertRule
from controlplane.alerts.phases import Condition, is_broken
from controlplane.alerts.states import MEASURES
from controlplane.metrics.definitions import METRICS, SECONDS

Sums = Mapping[str, float | None]


def condition_of(rule: AlertRule, threshold: float | None) -> Condition:
    return Condition(
        rule.comparison,
        rule.threshold if threshold is None else threshold,
        rule.for_seconds,
        rule.minimum_traffic,
        rule.reminder_seconds,
    )


def columns_of(metric: str) -> set[str]:
    """Returns the columns needed to judge a metric: its own, and those of the metric for a rule's minimum traffic."""
    definition = METRICS[metric]
    traffic = METRICS.get(definition.traffic)
    return definition.columns | (traffic.columns if traffic else set()) | {SECONDS}


def judged(condition: Condition, metric: str, sums: Sums) -> tuple[float | None, bool | None]:
    definition = MEASURES[metric]
    traffic = METRICS.get(definition.traffic)
    value = definition.value(sums)
    return value, is_broken(condition, value, traffic.value(sums) if traffic else None)
