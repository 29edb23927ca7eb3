"""Sends a change set to a worker."""

from __future__ import annotations

from controlplane.core.delivery import task_send


def deliver(change_id: str) -> None:
    task_send("changes.apply", change_id)
