"""Handing work to workers; what a broker loses, the sweep finds."""

from __future__ import annotations

from typing import Any

import structlog
from kombu.exceptions import OperationalError

log = structlog.get_logger(__name__)


def _send(task: Any, argument: Any) -> None:
    try:
        task.delay(argument)
    except (OperationalError, OSError) as error:
        log.warning("fleet_apply_not_delivered", task=task.name, argument=argument, error=str(error))


def deliver_advance(fleet_apply_id: str) -> None:
    from controlplane.rollouts.tasks import fleet_apply_advance

    _send(fleet_apply_advance, fleet_apply_id)


def deliver_item(item_id: int) -> None:
    from controlplane.rollouts.tasks import fleet_apply_item

    _send(fleet_apply_item, item_id)
