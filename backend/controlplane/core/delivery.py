"""Sends work to workers by the name of its task. If the broker is down nothing is lost: a sweep finds the row."""

from __future__ import annotations

import time

import structlog
from celery import current_app
from kombu.exceptions import OperationalError

log = structlog.get_logger(__name__)
SLOW_SECONDS, PAUSE_SECONDS = 1.0, 30.0


class Broker:
    """The message broker, as this process sees it.

    After a slow failure nothing is sent for PAUSE_SECONDS, so that many messages cost only one wait.
    """

    def __init__(self) -> None:
        self._again_at = 0.0  # on the monotonic clock

    def send(self, name: str, subject: str | int) -> None:
        started = time.monotonic()
        if started < self._again_at:
            return
        try:
            current_app.send_task(name, [subject])
        except (OperationalError, OSError) as error:
            now = time.monotonic()
            if now - started > SLOW_SECONDS:
                self._again_at = now + PAUSE_SECONDS
            log.warning("not_delivered", task=name, subject=subject, error=str(error))


BROKER = Broker()


def task_send(name: str, subject: str | int) -> None:
    BROKER.send(name, subject)
