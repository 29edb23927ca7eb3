"""One template on many simulated servers: the preview, and its application by a real worker of two processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.client import client_as
from bench.polling import simulated
from bench.processor import postgres_pid, seconds_of_tree
from bench.spread import spread
from config.celery import app
from controlplane.core.request_context import acting_as
from controlplane.parameters.services import template_create

MOST, PARALLELISM, PREVIEWS = 1000, 20, 5
PATH = "/api/v1/fleet-applies"
# Applied one after the other with different values, since setting a value that already runs is no change.
TEMPLATES = {
    f"bench-{number}": {"long_query_time": str(number), "sort_buffer_size": f"{number}M"} for number in (1, 2, 3)
}


def measure(instances: int) -> dict[str, Any]:
    client, count = client_as("operator"), min(instances, MOST)
    with acting_as("bench"):
        for name, values in TEMPLATES.items():
            template_create(name=name, engine_line="5.7", values=values)
    names = [f"bench-{number:05}" for number in range(count)]
    wall, preview_cpu = _previews(client, {"template": "bench-1", "instances": names})
    with simulated(count):
        postgres = postgres_pid()
        with _worker() as worker:
            before = seconds_of_tree(worker), seconds_of_tree(postgres)
            applied = [_apply(client, {"template": template, "instances": names}) for template in TEMPLATES]
            after = seconds_of_tree(worker), seconds_of_tree(postgres)
        cpu_ms = [1000 * (end - start) / count / len(applied) for start, end in zip(before, after, strict=True)]
    return {
        "instances": count,
        "parameters": 2,
        "a preview of all": spread(wall, "seconds"),
        "cpu_seconds_of_a_preview": spread(preview_cpu, "s")["median_s"],
        "all applied": spread(applied, "seconds", 1),
        "changes_per_second": round(count * len(applied) / sum(applied), 1),
        "cpu_milliseconds_of_a_change": {"worker": round(cpu_ms[0], 1), "postgresql": round(cpu_ms[1], 1)},
    }


def _previews(client: Any, body: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Returns the wall times and this process's CPU times, without PostgreSQL.

    The first preview is left out, since it loads modules.
    """
    wall, cpu = [], []
    for _ in range(PREVIEWS + 1):
        started = time.process_time()
        seconds, answer = _timed(client, f"{PATH}/preview", body)
        cpu.append(time.process_time() - started)
        wall.append(seconds)
        assert len(answer["items"]) == len(body["instances"])  # noqa: S101 - else nothing is measured
    return wall[1:], cpu[1:]


def _apply(client: Any, body: dict[str, Any]) -> float:
    begun, answer = _timed(client, PATH, {**body, "parallelism": PARALLELISM, "start": True})
    return begun + _seconds_until_done(client, answer["id"], len(body["instances"]))


@contextmanager
def _worker() -> Iterator[int]:
    words = [sys.executable, "-m", "celery", "--app", "config.celery", "worker", "--concurrency", "2"]
    words += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, env=os.environ | {"FQC_LOG_LEVEL": "ERROR"}) as process:
        try:
            while not app.control.ping(timeout=1.0):
                pass
            yield process.pid
        finally:
            process.terminate()


def _timed(client: Any, path: str, body: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    started = time.perf_counter()
    response = client.post(path, body, format="json")
    taken = time.perf_counter() - started
    assert response.status_code < 300, response.content  # noqa: S101 - else nothing is measured
    return taken, response.json()


def _seconds_until_done(client: Any, pk: str, count: int) -> float:
    started = time.perf_counter()
    while (found := client.get(f"{PATH}/{pk}").json())["state"] == "running":
        time.sleep(0.2)
    taken = time.perf_counter() - started
    if found["counts"]["applied"] != count:
        items = client.get(f"{PATH}/{pk}/items").json()["items"]
        raise SystemExit(f"not all were applied: {found['counts']}, {[each['detail'] for each in items][:2]}")
    return taken
