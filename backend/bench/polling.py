"""Rounds of polls against the simulator, written to PostgreSQL: polls per second of wall time and per core of the
poller.

The first round opens the connections and is not counted. Then rollups of those rounds and evaluations of the rules are
measured.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from bench.simulator import PORT, addresses, allow_files
from bench.spread import seconds_of, spread
from controlplane.alerts import evaluation
from controlplane.fleet.kept_connections import Connections
from controlplane.fleet.models import Instance, InstanceClass
from controlplane.metrics import polling, rollups

GIB = 1024**3
PER_PROCESS = 5000


@contextmanager
def simulated(count: int) -> Iterator[None]:
    """Starts the simulator.

    Each of its processes serves as many servers as its limit of open files allows: a listener and a connection each.
    """
    allow_files(count + 200)
    with ExitStack() as stack:
        firsts = range(0, count, PER_PROCESS)
        processes = [stack.enter_context(_simulator(first, min(PER_PROCESS, count - first))) for first in firsts]
        for process in processes:
            assert process.stdout and process.stdout.readline() == "ready\n"  # noqa: S101 - else nothing is measured
        yield


@contextmanager
def _simulator(first: int, count: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "bench.simulator", "--first", str(first), "--count", str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def make_fleet(count: int) -> None:
    size, _ = InstanceClass.objects.get_or_create(
        name="bench",
        defaults={
            "cpu_count": 4, "memory_bytes": 16 * GIB, "memory_reserve_bytes": 4 * GIB, "max_connections": 1000,
            "storage_bytes": 100 * GIB,
        },
    )  # fmt: skip
    fleet = []
    for number, address in enumerate(addresses(0, count)):
        instance = Instance(name=f"bench-{number:05}", provider="external", host=address, port=PORT, username="fqc")
        instance.instance_class, instance.state, instance.engine_version = size, "running", "5.7.44-simulated"
        instance.password = "any"  # noqa: S105 - the simulator lets everybody in
        fleet.append(instance)
    Instance.objects.bulk_create(fleet, batch_size=1000)


def measure(count: int, rounds: int) -> dict[str, Any]:
    connections = Connections()
    with simulated(count):
        at = int(time.time()) // 15 * 15
        opening = polling.poll_round(at, connections)
        cpu = time.process_time()
        done = [polling.poll_round(at + 15 * number, connections) for number in range(1, rounds + 1)]
        cpu = time.process_time() - cpu
        connections.keep_only(())
    now = float(at + 15 * (rounds + 5))
    wall, polled = [each.seconds for each in done], sum(each.answered_count for each in done)
    return {
        "instances": count,
        "failed": sum(each.failed_count for each in done),
        "opening_round_seconds": round(opening.seconds, 2),
        "a round of all": spread(wall, "seconds"),
        "cpu_seconds_of_a_round": round(cpu / rounds, 2),
        "polls_per_second": round(polled / sum(wall)),
        "polls_per_second_per_core": round(polled / cpu),
        "rollup_seconds": round(seconds_of(lambda: rollups.rollup(now)), 2),
        "alert_evaluation_seconds": round(seconds_of(lambda: evaluation.evaluate(now - 60)), 2),
    }
