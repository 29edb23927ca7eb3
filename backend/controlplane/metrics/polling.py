"""One round of polls: every instance is queried once, and its sample and newest reading are written in bulk.

Only the caller's thread uses the database. A server that fails leaves no sample, which is a gap in the chart. One that
was late is left out of some rounds. If the samples cannot be written together, each is written by itself.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from controlplane.core import clock
from controlplane.core.events import event_publish
from controlplane.core.turns import moment_note, turn_claim, turn_end
from controlplane.fleet.connection import limits as usual_limits
from controlplane.fleet.isolation import DutyRound, isolated
from controlplane.fleet.kept_connections import PROCESS, Connections, answered
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import endpoint_list
from controlplane.fleet.states import Duty
from controlplane.gateway.reports import NEAR
from controlplane.gateway.server import Limits
from controlplane.metrics.columns import STATUS_NAMES, VARIABLE_NAMES
from controlplane.metrics.definitions import SECONDS
from controlplane.metrics.intervals import LONGEST_SECONDS, Numbers, Reading, growth, reading_of
from controlplane.metrics.live import fleet_values
from controlplane.metrics.models import Latest, Sample
from controlplane.metrics.partitions import partitions_ensure
from controlplane.metrics.replication import PROCESS_REPLICATION, Replication
from controlplane.metrics.writing import Found, round_write
from controlplane.near_caches.reports import ReportSums, report_sums_take
from controlplane.near_caches.services import NearCacheListing, near_caches_note
from controlplane.settings.selectors import settings_get

TURN = "poll"
ROUND_ENDED = "poll_ended"
LEASE_SECONDS = 120.0
CONNECT_SECONDS, STATEMENT_SECONDS = 3, 5  # a slow server must not hold up the round
LONGEST_ROUNDS = 3  # after so many missed rounds growth is not counted, however long the interval

# Names are constants of this product, never input.
_names = {"STATUS": STATUS_NAMES, "VARIABLES": VARIABLE_NAMES}
STATEMENTS = [
    f"SHOW GLOBAL {what} WHERE Variable_name IN ({', '.join(repr(name) for name in names)})"
    for what, names in _names.items()
]

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class PollRound:
    at: int
    answered_count: int
    failed_count: int
    seconds: float


def poll_if_due(now: float | None = None) -> PollRound | None:
    """Runs a round of polls if it is due, and returns its figures.

    None if it is not due or another process runs it. `now` is in epoch seconds; None: the shared clock.
    """
    now = clock.shared_time() if now is None else now
    interval = settings_get().poll_interval_seconds
    if not turn_claim(TURN, now, LEASE_SECONDS, interval):
        return None
    # Rounds start on multiples of the interval, so that a plot's buckets get one sample each.
    slot = int(now // interval * interval)
    try:
        done = poll_round(slot)
    finally:
        turn_end(TURN, slot + interval)
    moment_note(ROUND_ENDED, clock.shared_time())
    return done


def poll_round(
    at: int, connections: Connections = PROCESS, replication: Replication = PROCESS_REPLICATION
) -> PollRound:
    started = time.perf_counter()
    instances = list(endpoint_list())
    connections.keep_only({instance.pk for instance in instances})
    asked = connections.in_time(instances)
    with isolated(Duty.POLL) as work:
        readings = _read_all(asked, connections, work)
        answering = [each for each in asked if each.pk in readings]
        for pk, columns in replication.of(answering, time.monotonic(), connections, _limits()).items():
            readings[pk] = replace(readings[pk], numbers={**readings[pk].numbers, **columns})
        partitions_ensure(Sample, at, at)
        work.together(readings, lambda found: _write(at, found))
    with isolated(Duty.NEAR_CACHES) as work:
        work.together(_near_caches(asked, readings, connections, work), near_caches_note)
    event_publish("samples", "fleet", {"sampled_at": at, "answered": len(readings), "fleet": fleet_values(at)})
    done = PollRound(at, len(readings), len(instances) - len(readings), time.perf_counter() - started)
    log.info("poll_round", answered=done.answered_count, failed=done.failed_count, seconds=round(done.seconds, 3))
    return done


def _limits() -> Limits:
    return replace(usual_limits(), connect_seconds=CONNECT_SECONDS, statement_seconds=STATEMENT_SECONDS)


def _read_all(instances: Sequence[Instance], connections: Connections, work: DutyRound) -> dict[str, Reading]:
    readings = {}
    for pk, outcome in connections.ask_all(instances, _limits(), lambda _: STATEMENTS).items():
        with work.on(pk):
            answer = answered(outcome)
            readings[pk] = reading_of(answer.at, *answer.values)
    return readings


def _near_caches(
    instances: Sequence[Instance], readings: Mapping[str, Reading], connections: Connections, work: DutyRound
) -> dict[str, NearCacheListing]:
    """Asks the instances that count attached near caches for the list of them.

    Returns the lists by instance id, for each instance that answered; it is empty for the others.
    """
    listed = {
        pk: NearCacheListing(reading.at) for pk, reading in readings.items() if not reading.numbers.get("near_caches")
    }
    having = [each for each in instances if each.pk in readings and each.pk not in listed]
    for pk, rows in connections.rows_all(having, _limits(), f"SHOW FQC {NEAR}").items():
        with work.on(pk):
            listed[pk] = NearCacheListing(time.time(), answered(rows))
    return listed


def _write(at: int, readings: Mapping[str, Reading]) -> None:
    """Writes the samples of a round and the newest readings, by instance id. Must be called in a transaction."""
    before = _readings_before(readings)
    reported = report_sums_take(at, readings)
    longest = max(LONGEST_SECONDS, LONGEST_ROUNDS * settings_get().poll_interval_seconds)
    grown = {pk: growth(before.get(pk), reading, longest) for pk, reading in readings.items()}
    for pk in reported.keys() & grown.keys():
        _add_reported(grown[pk], reported[pk])
    round_write(at, {pk: Found(reading, grown[pk]) for pk, reading in readings.items()})


def _add_reported(grown: Numbers, reported: ReportSums) -> None:
    """Adds what near caches reported themselves to an instance's sample, in place, next to the counts of the attached
    ones.

    If the sample covers no time, no counter grows.
    """
    counted = bool(grown[SECONDS])
    told = {
        "near_hits": reported.hits * counted,
        "near_misses": reported.misses * counted,
        # A server whose cache is off counts no reads. Reads that near caches passed on to it count as not cached.
        "not_cached": 0 if _counts_reads(grown) else reported.misses * counted,
        "near_caches": reported.reporting,
        "near_caches_detached": reported.detached,
    }
    for column, number in told.items():
        grown[column] = (grown[column] or 0) + number


def _counts_reads(grown: Numbers) -> bool:
    return any(grown[column] for column in ("hits", "inserts", "not_cached"))


def _readings_before(readings: Collection[str]) -> dict[str, Reading]:
    rows = Latest.objects.values_list("instance_id", "at", "readings")
    return {pk: Reading(at, numbers) for pk, at, numbers in rows if pk in readings}
