from __future__ import annotations

from celery import shared_task

from controlplane.rollouts import execution


@shared_task(name="rollouts.advance")
def fleet_apply_advance(fleet_apply_id: str) -> None:
    execution.advance(fleet_apply_id)


@shared_task(name="rollouts.item")
def fleet_apply_item(item_id: int) -> None:
    execution.run_items(item_id)


@shared_task(name="rollouts.sweep")
def fleet_applies_sweep() -> None:
    execution.sweep()
