"""The figures that summarise an instance or the fleet, each for the past hour."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from controlplane.metrics.definitions import HEADLINE_SECONDS, HEADLINES, METRICS
from controlplane.metrics.series import MINUTE, Series, Span, fleet_series, instance_series, instance_sums, span_of
from controlplane.settings.selectors import settings_get

POINTS = 60
DEFINITIONS = [METRICS[name] for name in HEADLINES]
READS = METRICS["reads_per_second"]


@dataclass(frozen=True)
class Headlines:
    span: Span
    series: list[Series]

    @property
    def values(self) -> Mapping[str, float | None]:
        return {series.definition.name: series.whole for series in self.series}


def instance_headlines(instance_id: str) -> Headlines:
    span = _past_hour(settings_get().poll_interval_seconds)
    return Headlines(span, instance_series(instance_id, DEFINITIONS, span))


def fleet_headlines() -> Headlines:
    """Returns the fleet's figures of the past hour. They are computed from minutes: the fleet has no finer samples."""
    span = _past_hour(MINUTE)
    return Headlines(span, fleet_series(DEFINITIONS, span))


def past_hour_sums(instance_id: str) -> Mapping[str, float | None]:
    """Returns by column how much the counters behind the headlines have grown in the past hour, and the gauges'
    averages; empty without samples.
    """
    span = _past_hour(settings_get().poll_interval_seconds)
    return instance_sums(instance_id, [*DEFINITIONS, READS], span)


def _past_hour(poll_seconds: int) -> Span:
    now = int(time.time())
    return span_of(now - HEADLINE_SECONDS, now, POINTS, poll_seconds)
