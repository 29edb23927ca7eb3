"""Statistics of repeated measurements: the median, and the spread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence


def spread(values: Sequence[float], unit: str, digits: int = 2) -> dict[str, float]:
    ordered = sorted(values)
    found = {
        f"median_{unit}": statistics.median(ordered),
        f"least_{unit}": ordered[0],
        f"p95_{unit}": ordered[int(len(ordered) * 0.95)],
        f"most_{unit}": ordered[-1],
    }
    return {**{name: round(value, digits) for name, value in found.items()}, "runs": len(ordered)}


def seconds_of(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    started = clock()
    work()
    return clock() - started


def timed(work: Callable[[], object], runs: int) -> dict[str, float]:
    """Measures `work` several times, after one run that is not counted and that loads modules and caches."""
    work()
    return spread([1000 * seconds_of(work) for _ in range(runs)], "ms", 1)
