"""Celery's doors to polling and rollups. Each may run twice or late: the services see to it that it does not matter."""

from __future__ import annotations

import time

from celery import shared_task

from controlplane.metrics import polling, rollups
from controlplane.metrics.clock import turn_claim


@shared_task(name="metrics.poll")
def poll() -> None:
    polling.poll_if_due()


@shared_task(name="metrics.rollup")
def rollup() -> None:
    now = time.time()
    if turn_claim("rollup", now, 30):
        rollups.rollup(now)


@shared_task(name="metrics.expire")
def expire() -> None:
    rollups.expire(time.time())
