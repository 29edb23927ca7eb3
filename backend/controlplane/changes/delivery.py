"""Handing a change set to a worker. A broker that is away loses nothing: the sweep finds the row."""

from __future__ import annotations

import structlog
from kombu.exceptions import OperationalError

log = structlog.get_logger(__name__)


def deliver(change_id: str) -> None:
    from controlplane.changes.tasks import change_apply

    try:
        change_apply.delay(change_id)
    except (OperationalError, OSError) as error:
        log.warning("change_not_delivered", change=change_id, error=str(error))
