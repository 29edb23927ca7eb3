"""One round: every instance is asked once, and its sample and newest reading are written in bulk.

Servers are asked by threads, since PyMySQL waits on the network; the caller's thread alone speaks to the database.
A server that fails leaves no sample: a gap in the plot is the truth.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import structlog
from django.db import transaction

from controlplane.core import clock
from controlplane.core.events import event_publish
from controlplane.fleet.connection import limits as usual_limits
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import instance_polled
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.server import Limits
from controlplane.metrics.columns import STATUS_NAMES, VARIABLE_NAMES
from controlplane.metrics.connections import Connections
from controlplane.metrics.definitions import METRICS
from controlplane.metrics.intervals import LONGEST_SECONDS, Numbers, Reading, growth, reading_of
from controlplane.metrics.models import Latest, Sample
from controlplane.metrics.partitions import partitions_ensure
from controlplane.metrics.turns import turn_claim, turn_end
from controlplane.settings.selectors import settings_get

TURN = "poll"
LEASE_SECONDS = 120.0
CONNECT_SECONDS, STATEMENT_SECONDS = 3, 5  # a slow server must not hold up the round
MOST_THREADS = 64
WRITE_BATCH = 500
LONGEST_ROUNDS = 3  # missed in a row before growth is not counted, however long the interval

# Names are constants of this product, never input.
_names = {"STATUS": STATUS_NAMES, "VARIABLES": VARIABLE_NAMES}
STATEMENTS = [
    f"SHOW GLOBAL {what} WHERE Variable_name IN ({', '.join(repr(name) for name in names)})"
    for what, names in _names.items()
]

log = structlog.get_logger(__name__)
_connections = Connections()


@dataclass(frozen=True)
class Round:
    at: int
    answered_count: int
    failed_count: int
    seconds: float


def poll_if_due(now: float | None = None) -> Round | None:
    """None: not due, or somebody else is at it."""
    now = clock.shared_time() if now is None else now
    interval = settings_get().poll_interval_seconds
    if not turn_claim(TURN, now, LEASE_SECONDS, interval):
        return None
    # Rounds start on multiples of the interval, so that a plot's buckets get one sample each.
    slot = int(now // interval * interval)
    try:
        return poll_round(slot)
    finally:
        turn_end(TURN, slot + interval)


def poll_round(at: int, connections: Connections = _connections) -> Round:
    started = time.perf_counter()
    instances = list(instance_polled())
    connections.keep_only({instance.pk for instance in instances})
    readings = _read_all(instances, connections)
    _write(at, readings)
    done = Round(at, len(readings), len(instances) - len(readings), time.perf_counter() - started)
    log.info("poll_round", answered=done.answered_count, failed=done.failed_count, seconds=round(done.seconds, 3))
    return done


def _read_all(instances: Sequence[Instance], connections: Connections) -> dict[str, Reading]:
    if not instances:
        return {}
    limits = replace(usual_limits(), connect_seconds=CONNECT_SECONDS, statement_seconds=STATEMENT_SECONDS)
    now = time.time()
    asked = [instance for instance in instances if not connections.is_paused(instance.pk, now)]
    with ThreadPoolExecutor(min(MOST_THREADS, len(asked) or 1), "poll") as threads:
        found = list(threads.map(lambda instance: _read(instance, limits, connections), asked))
    for instance, reading in zip(asked, found, strict=True):
        connections.note(instance.pk, has_failed=reading is None, now=now)
    return {instance.pk: reading for instance, reading in zip(asked, found, strict=True) if reading}


def _read(instance: Instance, limits: Limits, connections: Connections) -> Reading | None:
    try:
        status, variables = connections.ask(instance, limits, STATEMENTS)
    except GatewayError as error:
        log.warning("poll_failed", instance=instance.pk, code=error.code, detail=error.detail)
        return None
    except Exception:
        # Whatever listens there, or a password that cannot be opened: one instance must not spoil the round.
        log.exception("poll_failed", instance=instance.pk)
        connections.drop(instance.pk)
        return None
    return reading_of(time.time(), status, variables)


@transaction.atomic
def _write(at: int, readings: dict[str, Reading]) -> None:
    partitions_ensure(Sample, at, at)
    before = {row.pk: Reading(row.at, row.readings) for row in Latest.objects.filter(pk__in=list(readings))}
    longest = max(LONGEST_SECONDS, LONGEST_ROUNDS * settings_get().poll_interval_seconds)
    grown = {pk: growth(before.get(pk), reading, longest) for pk, reading in readings.items()}
    samples = [Sample(instance_id=pk, at=at, **numbers) for pk, numbers in grown.items()]
    # A slot that was sampled already, after the interval was changed, keeps its sample.
    Sample.objects.bulk_create(samples, batch_size=WRITE_BATCH, ignore_conflicts=True)
    Latest.objects.bulk_create(
        [_latest(pk, reading, grown[pk]) for pk, reading in readings.items()],
        batch_size=WRITE_BATCH,
        update_conflicts=True,
        unique_fields=["instance"],
        update_fields=["at", "readings", "growth", "hit_ratio", "lookups_per_second"],
    )
    event_publish("samples", "fleet", {"at": at, "answered": len(readings)})


def _latest(pk: str, reading: Reading, grown: Numbers) -> Latest:
    return Latest(
        instance_id=pk,
        at=reading.at,
        readings=dict(reading.numbers),
        growth=grown,
        hit_ratio=METRICS["hit_ratio"].value(grown),
        lookups_per_second=METRICS["lookups_per_second"].value(grown),
    )
