"""Sends a fleet apply, or one of its items, to a worker."""

from __future__ import annotations

from controlplane.core.delivery import task_send


def deliver_advance(fleet_apply_id: str) -> None:
    task_send("rollouts.advance", fleet_apply_id)


def deliver_item(item_id: int) -> None:
    task_send("rollouts.item", item_id)
