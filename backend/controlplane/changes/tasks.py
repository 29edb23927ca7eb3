"""Tasks that deliver change sets to workers. A task may run twice, late or not at all without harm."""

from __future__ import annotations

from celery import shared_task

from controlplane.changes import execution, upkeep, watch
from controlplane.fleet.lookout import LOOKOUT

LOOKOUT.lanes["living"].append(watch.watch_if_due)
LOOKOUT.lanes["silent"].append(watch.watch_silent_if_due)


@shared_task(name="changes.apply")
def change_apply(change_id: str) -> None:
    execution.change_run(change_id)


@shared_task(name="changes.sweep")
def changes_sweep() -> None:
    """Delivers changes that are due, and ends those whose worker has died."""
    upkeep.sweep()
