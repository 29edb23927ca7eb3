"""Celery tasks of polling and rollups. Each may run twice or late; the services ensure that this does no harm."""

from __future__ import annotations

from celery import shared_task

from controlplane.core import clock
from controlplane.core.periodic import periodic_claim
from controlplane.core.retention import retention_now
from controlplane.fleet.lookout import LOOKOUT
from controlplane.metrics import polling, rollups, storage

LOOKOUT.lanes["living"].append(polling.poll_if_due)
LOOKOUT.lanes["storage"].append(storage.look_at_storage_if_due)


@shared_task(name="metrics.look")
def look() -> None:
    """Starts the thread that polls and watches the servers in this process, unless a process runs it already."""
    LOOKOUT.ensure_running()


@shared_task(name="metrics.rollup")
def rollup() -> None:
    now = clock.shared_time()
    if periodic_claim("rollup", now, 30):
        rollups.rollup(now)


@shared_task(name="metrics.expire")
def expire() -> None:
    rollups.expire(retention_now("metrics").timestamp())
