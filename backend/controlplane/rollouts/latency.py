"""Statement times of an instance before its upgrade and since, from its samples.

After the upgrade only the second half of the watch counts: in the first half the cache fills again. With few statements
a 95th percentile is not meaningful, and the engine may not have counted them: then there is no verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Sum

from controlplane.metrics.definitions import METRICS
from controlplane.metrics.models import Sample

LEAST_STATEMENTS = 1000  # required before the upgrade and after it
BEFORE = timedelta(hours=1)
METRIC = METRICS["p95_answer_time"]


@dataclass(frozen=True)
class Latency:
    """95th percentiles of an instance's statement times in milliseconds, before its upgrade and after; None if too few
    statements were timed.
    """

    before_ms: float | None
    after_ms: float | None

    def slowdown(self, most_percent: int) -> str:
        """Returns a sentence if statements take more than `most_percent` of the time before the upgrade; empty if not,
        or if that is unknown.
        """
        if self.before_ms is None or self.after_ms is None:
            return ""
        percent = 100 * self.after_ms / self.before_ms
        if percent <= most_percent:
            return ""
        told = f"95 % of its statements take up to {self.after_ms:.3g} ms, before the upgrade {self.before_ms:.3g} ms"
        return f"{told}: {percent:.0f} %, allowed {most_percent} %"


def latency_of(instance_id: str, begun: datetime, ended: datetime, watched_until: datetime) -> Latency:
    return Latency(
        _p95_ms(instance_id, begun - BEFORE, begun),
        _p95_ms(instance_id, ended + (watched_until - ended) / 2, watched_until),
    )


def _p95_ms(instance_id: str, first: datetime, last: datetime) -> float | None:
    span = (int(first.timestamp()), int(last.timestamp()))
    samples = Sample.objects.filter(instance_id=instance_id, at__range=span)
    sums = samples.aggregate(**{column: Sum(column) for column in METRIC.columns})
    return METRIC.value(sums) if (sums["answered"] or 0) >= LEAST_STATEMENTS else None
