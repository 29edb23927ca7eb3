"""Handing work to workers, by the name of its task. A broker that is away loses nothing: a sweep finds the row."""

from __future__ import annotations

import structlog
from celery import current_app
from kombu.exceptions import OperationalError

log = structlog.get_logger(__name__)


def task_send(name: str, subject: str | int) -> None:
    try:
        current_app.send_task(name, [subject])
    except (OperationalError, OSError) as error:
        log.warning("not_delivered", task=name, subject=subject, error=str(error))
