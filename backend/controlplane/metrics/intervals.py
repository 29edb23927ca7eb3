"""Computes the growth between two readings of a server. Pure.

A counter that went down was reset: its present value has grown since then. A restart resets all counters, and they then
cover the server's uptime. If more time has passed here than on the server, our clock has jumped ahead, and the server's
uptime is used. A very long interval says little about any moment in it and is not counted.

A server may answer anything. Readings are bounded where they are parsed, and growth is bounded so that the sums of
rollups fit their columns: growth that no server can reach in an interval is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from controlplane.gateway.numbers import MOST_COUNTED, whole

from .columns import ANSWERED_WITHIN, COUNTERS, GAUGE_COLUMNS, GAUGES, LOOKUPS, P95_SUM, VARIABLES
from .definitions import SECONDS
from .quantiles import quantile

LONGEST_SECONDS = 900.0
JUMP_SECONDS = 5.0  # uptimes are whole seconds, and answers take time
UPTIME = "uptime_seconds"
# One minute of a fleet of 10 000 instances, polled every 5 s, adds up 120 000 samples.
MOST_GROWN = 2**63 // 120_000
Numbers = dict[str, float | None]


@dataclass(frozen=True)
class Reading:
    at: float  # epoch seconds by the control plane's clock
    numbers: Mapping[str, float | None]  # by column; None if this server has no such variable


def reading_of(at: float, status: Mapping[str, str], variables: Mapping[str, str]) -> Reading:
    numbers: Numbers = {column: _sum(status, names) for column, names in COUNTERS.items()}
    numbers |= {name: _counter(status.get(name)) for name in ANSWERED_WITHIN.values()}
    numbers |= {column: whole(status.get(name)) for column, name in GAUGES.items()}
    for column, names in VARIABLES.items():
        found = (whole(variables.get(name)) for name in names)
        numbers[column] = next((number for number in found if number is not None), None)
    return Reading(at, numbers)


def growth(before: Reading | None, now: Reading, longest_seconds: float = LONGEST_SECONDS) -> Numbers:
    """Returns the columns of a sample: `seconds`, the growth of the counters in that time, and the present gauges.

    Seconds and growth are 0 if there is no earlier reading (None), or it is older than `longest_seconds`.
    """
    gauges = {column: now.numbers.get(column) for column in GAUGE_COLUMNS}
    seconds = _covered(before, now, longest_seconds)
    if before is None or seconds == 0:
        return {SECONDS: 0.0, **dict.fromkeys((*COUNTERS, LOOKUPS, P95_SUM), 0), **gauges}
    has_restarted = _has_restarted(before, now)
    grown: Numbers = {column: _grown(before, now, column, has_restarted) for column in COUNTERS}
    misses = "misses" if now.numbers.get("misses") is not None else "inserts"
    grown[LOOKUPS] = (grown["hits"] or 0) + (grown[misses] or 0)
    grown["questions"] = _run(grown, has_engine=misses == "misses")
    within = {bound: _grown(before, now, name, has_restarted) for bound, name in ANSWERED_WITHIN.items()}
    answered = grown["answered"] or 0
    grown[P95_SUM] = round(quantile(0.95, answered, within.items()) * answered)
    counted = {column: number if (number or 0) <= MOST_GROWN else 0 for column, number in grown.items()}
    return {SECONDS: seconds, **counted, **gauges}


def _run(grown: Numbers, *, has_engine: bool) -> float:
    """Returns how many statements the server itself ran, from the growth of the counters.

    A server's own cache counts its hits in Questions, too; with the engine, Questions does not include them.
    """
    questions = grown["questions"] or 0
    return questions if has_engine else max(0, questions - (grown["hits"] or 0))


def _covered(before: Reading | None, now: Reading, longest_seconds: float) -> float:
    """Returns the seconds that the growth of the counters covers; 0 if this is the first reading, the clock went back
    or the last reading is too old.
    """
    if before is None:
        return 0.0
    elapsed = now.at - before.at
    if not 0 < elapsed <= longest_seconds:
        return 0.0
    was, is_ = before.numbers.get(UPTIME), now.numbers.get(UPTIME)
    if was is None or is_ is None:
        return elapsed
    if _has_restarted(before, now):
        return min(elapsed, is_)
    return elapsed if elapsed - (is_ - was) < JUMP_SECONDS else is_ - was


def _has_restarted(before: Reading, now: Reading) -> bool:
    was, is_ = before.numbers.get(UPTIME), now.numbers.get(UPTIME)
    return was is not None and is_ is not None and is_ < was


def _grown(before: Reading, now: Reading, column: str, has_restarted: bool) -> float:
    was, is_ = before.numbers.get(column), now.numbers.get(column)
    if is_ is None:
        return 0
    # A counter that appears came with an engine that was installed in the meantime: it started at 0.
    if was is None or has_restarted or is_ < was:
        return is_
    return is_ - was


def _sum(status: Mapping[str, str], names: tuple[str, ...]) -> float | None:
    found = [number for number in (_counter(status.get(name)) for name in names) if number is not None]
    return sum(found) if found else None


def _counter(text: str | None) -> int | None:
    """Parses a counter; None if it is missing or not a whole number that a server can have counted.

    It may need 64 bits, since only its growth is stored in columns.
    """
    return whole(text, MOST_COUNTED)
