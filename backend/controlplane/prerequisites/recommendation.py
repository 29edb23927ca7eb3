"""The recommendation for an instance: whether the cache would be useful, or is. One answer with its figures and the
same words everywhere. Pure.

A cache that is on is judged by the headlines of the past hour, which are shown next to the answer. While it is off, its
hit ratio is read from the predicted curve, if there is one: counters cover everything since observing began, the curve
only the latest reads, and side by side the two would contradict each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from controlplane.gateway.numbers import whole
from controlplane.prerequisites.findings import percent

ENOUGH_REQUESTS = 1000  # a hit ratio of so many reads is right to within 3 percentage points
ENOUGH_SECONDS = 600
LEAST_HIT_RATIO = 0.1
KIB, MIB = 1024, 1024**2
OBSERVED = {
    "requests": "Fqc_observed_requests",
    "hits": "Fqc_observed_hits",
    "microseconds": "Fqc_observed_time_saved_us",
}


@dataclass(frozen=True)
class ObservedReads:
    requests: int
    hits: int
    microseconds: int
    seconds: float
    size_bytes: int | None = None  # the size at which the predicted curve flattens
    predicted: float | None = None  # the hit ratio that the curve predicts for that size

    @property
    def hit_ratio(self) -> float | None:
        return self._counted if self.predicted is None else self.predicted

    @property
    def _counted(self) -> float | None:
        return self.hits / self.requests if self.requests else None

    @property
    def saved_cores(self) -> float | None:
        """The number of CPU cores that hits save, extrapolated from the counted hits to the hit ratio; None if no time
        has passed.
        """
        if self.seconds <= 0:
            return None
        share = (self.hit_ratio or 0) / self._counted if self._counted else 1
        return self.microseconds * share / 1e6 / self.seconds

    @property
    def suggested_bytes(self) -> int | None:
        """The suggested cache size; None without a curve, and before there were enough reads, since the knee of a curve
        of few reads is arbitrary.
        """
        return self.size_bytes if self.is_enough else None

    @property
    def is_enough(self) -> bool:
        return self.requests >= ENOUGH_REQUESTS and self.seconds >= ENOUGH_SECONDS


def counted(status: Mapping[str, str]) -> dict[str, int]:
    return {name: whole(status.get(counter)) or 0 for name, counter in OBSERVED.items()}


def grown(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Returns by how much the counters have grown since `before`. A server that was restarted counts from 0."""
    is_anew = any(now[name] < before[name] for name in OBSERVED)
    return {name: now[name] if is_anew else now[name] - before[name] for name in OBSERVED}


def recommendation(
    seen: ObservedReads | None, *, has_engine: bool, takes_engine: bool, is_on: bool, is_observing: bool
) -> dict[str, Any]:
    if has_engine:
        verdict = _verdict(seen, is_on=is_on, is_observing=is_observing)
    else:
        verdict = "no_engine" if takes_engine else "no_engine_there"
    figures = seen or ObservedReads(0, 0, 0, 0)
    return {
        "verdict": verdict,
        "text": TEXTS[verdict](figures),
        "hit_ratio": figures.hit_ratio,
        "saved_cores": figures.saved_cores,
        "size_bytes": figures.suggested_bytes,
        "requests": figures.requests,
        "seconds": int(figures.seconds),
        "is_enough": figures.is_enough,
        "enough_requests": ENOUGH_REQUESTS,
        "enough_seconds": ENOUGH_SECONDS,
    }


def _verdict(seen: ObservedReads | None, *, is_on: bool, is_observing: bool) -> str:
    if is_on:
        if seen is None or not seen.is_enough:
            return "too_early"
        return "keep" if (seen.hit_ratio or 0) >= LEAST_HIT_RATIO else "reconsider"
    if seen is None or not (seen.is_enough or is_observing):
        return "observe"
    if not seen.is_enough:
        return "observing"
    return "enable" if (seen.hit_ratio or 0) >= LEAST_HIT_RATIO else "do_not_enable"


def _percent(seen: ObservedReads) -> str:
    return percent(seen.hit_ratio or 0)


def _cores(seen: ObservedReads) -> str:
    cores = seen.saved_cores or 0
    if cores >= 1:
        return f"{cores:.1f} cores"
    return f"{cores:.1f} of a core" if cores >= 0.1 else f"{percent(cores, digits=1)} of a core"


def size_text(size: int) -> str:
    return f"{-(-size // MIB)} MiB" if size >= MIB else f"{-(-size // KIB)} KiB"


def _size(seen: ObservedReads) -> str:
    return f" Suggested size: {size_text(seen.suggested_bytes)}." if seen.suggested_bytes else ""


TEXTS: dict[str, Any] = {
    "no_engine": lambda seen: "Install the engine first: it observes what the cache would do.",
    "no_engine_there": lambda seen: (
        "This server cannot load the engine. A near cache next to the application can answer repeated reads."
    ),
    "observe": lambda seen: (
        "Not known yet: observe the server's reads first. Nothing is served from the cache while observing."
    ),
    "observing": lambda seen: (
        f"Observing: {seen.requests} reads in {int(seen.seconds) // 60} minutes so far. "
        f"At least {ENOUGH_REQUESTS} reads and {ENOUGH_SECONDS // 60} minutes are needed. "
        "Only connections opened since then are observed: let the application's pool reconnect."
    ),
    "enable": lambda seen: f"Enable: {_percent(seen)} of reads would hit, saving {_cores(seen)}.{_size(seen)}",
    "do_not_enable": lambda seen: f"Do not enable: only {_percent(seen)} of reads would hit.",
    "too_early": lambda seen: (
        f"The cache is on. In the past hour caches answered {seen.hits} of {seen.requests} reads. To judge it, at "
        f"least {ENOUGH_REQUESTS} reads over {ENOUGH_SECONDS // 60} minutes are needed."
    ),
    "keep": lambda seen: (
        f"The cache is worthwhile: in the past hour {_percent(seen)} of reads came from caches, saving {_cores(seen)}."
        f"{_size(seen)}"
    ),
    "reconsider": lambda seen: (
        f"The cache is on, but in the past hour only {_percent(seen)} of reads came from caches. Consider disabling it."
    ),
}


def result_of(seen: ObservedReads) -> dict[str, Any]:
    return asdict(seen)
