"""One template on many simulated servers: the preview, and its application by a real worker of two processes."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.client import client_as
from bench.polling import simulated
from config.celery import app
from controlplane.core.request_context import acting_as
from controlplane.parameters.services import template_create

MOST, PARALLELISM = 1000, 20
PATH = "/api/v1/fleet-applies"
VALUES = {"long_query_time": "2", "sort_buffer_size": "1M"}


def measure(instances: int) -> dict[str, Any]:
    client, count = client_as("operator"), min(instances, MOST)
    with acting_as("bench"):
        template_create(name="bench", engine_line="5.7", values=VALUES)
    body = {"template": "bench", "instances": [f"bench-{number:05}" for number in range(count)]}
    _timed(client, f"{PATH}/preview", body)  # what is loaded once, is
    preview, answer = _timed(client, f"{PATH}/preview", body)
    assert len(answer["items"]) == count  # noqa: S101 - else nothing is measured
    with simulated(count):
        before = _children_cpu()
        with _worker():
            begun, answer = _timed(client, PATH, {**body, "parallelism": PARALLELISM, "start": True})
            applied = begun + _seconds_until_done(client, answer["id"], count)
        cpu = _children_cpu() - before
    return {
        "instances": count,
        "parameters": len(VALUES),
        "preview_seconds": round(preview, 2),
        "apply_seconds": round(applied, 1),
        "changes_per_second": round(count / applied, 1),
        "worker_cpu_seconds_with_its_start": round(cpu, 1),
    }


def _children_cpu() -> float:
    """Of those that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def _worker() -> Iterator[None]:
    words = [sys.executable, "-m", "celery", "--app", "config.celery", "worker", "--concurrency", "2"]
    words += ["--loglevel", "ERROR", "--without-gossip", "--without-mingle", "--without-heartbeat"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        try:
            while not app.control.ping(timeout=1.0):
                pass
            yield
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
