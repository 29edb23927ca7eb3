"""What keeps change sets moving without trusting anybody's memory: due ones are delivered again, orphans end.

An orphan is a change whose lease ran out: its worker was killed, or hangs. It is taken over by one conditional update
and undone; a server that cannot be reached leaves it failed, and says so.
"""

from __future__ import annotations

import structlog
from django.db.models import F
from django.utils import timezone

from controlplane.changes.delivery import deliver
from controlplane.changes.execution import LeaseLost, lease_end, renew, undo, worker_name
from controlplane.changes.models import ChangeSet
from controlplane.changes.selectors import change_get
from controlplane.changes.states import AT_WORK, ChangeState
from controlplane.changes.steps import Run
from controlplane.core.request_context import acting_as

log = structlog.get_logger(__name__)
AT_ONCE = 200


def sweep() -> None:
    for change_id in orphans():
        take_over(change_id)
    for change_id in due():
        deliver(change_id)


def due() -> list[str]:
    found = ChangeSet.objects.filter(state=ChangeState.APPROVED, not_before__lte=timezone.now())
    return list(found.order_by("not_before").values_list("pk", flat=True)[:AT_ONCE])


def orphans() -> list[str]:
    found = ChangeSet.objects.filter(state__in=AT_WORK, lease_until__lt=timezone.now())
    return list(found.values_list("pk", flat=True)[:AT_ONCE])


def take_over(change_id: str) -> None:
    left = ChangeSet.objects.filter(pk=change_id, state__in=AT_WORK, lease_until__lt=timezone.now())
    if not left.update(claimed_by=worker_name(), lease_until=lease_end(), version=F("version") + 1):
        return
    change = change_get(change_id)
    log.warning("change_orphaned", change=change_id)
    with acting_as("system"):
        run = Run(change, lambda: renew(change))
        try:
            undo(run, "worker_lost", "The worker that ran this change is gone.")
        except LeaseLost:
            log.warning("change_taken_over", change=change_id)
        finally:
            run.close()
