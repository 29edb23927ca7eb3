"""Keeps change sets moving: due ones are delivered again, and those that lost their worker are ended.

A change whose lease has expired has lost its worker, which was killed or hangs. It is claimed by one conditional update
and undone; if the server cannot be reached it ends as failed and says so. A lease that ends later than any lease can
was given before the clock was set back: it is cut to the usual length, which a living worker renews.
"""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.db.models import F

from controlplane.changes import outcome
from controlplane.changes.delivery import deliver
from controlplane.changes.execution import LeaseLost, lease_end, renew, undo, worker_name
from controlplane.changes.models import ChangeSet
from controlplane.changes.observing import observations_end_due
from controlplane.changes.selectors import change_get, is_due
from controlplane.changes.states import AT_WORK
from controlplane.changes.steps import Run
from controlplane.core import clock
from controlplane.core.request_context import acting_as

log = structlog.get_logger(__name__)
AT_ONCE = 200
SLACK = timedelta(seconds=60)  # between reading the clock and writing the lease


def sweep() -> None:
    leases_cut()
    for change_id in orphans():
        try:
            take_over(change_id)
        except Exception:  # a change that cannot be ended now must not hold up the others
            log.exception("orphan_not_ended", change=change_id)
    for change_id in due():
        deliver(change_id)
    observations_end_due()  # last, since it connects to servers


def due() -> list[str]:
    found = ChangeSet.objects.filter(is_due(clock.shared_now()))
    return list(found.order_by("not_before").values_list("pk", flat=True)[:AT_ONCE])


def leases_cut() -> None:
    furthest = lease_end() + SLACK
    ChangeSet.objects.filter(state__in=AT_WORK, lease_until__gt=furthest).update(lease_until=furthest)


def orphans() -> list[str]:
    found = ChangeSet.objects.filter(state__in=AT_WORK, lease_until__lt=clock.shared_now())
    return list(found.values_list("pk", flat=True)[:AT_ONCE])


def take_over(change_id: str) -> None:
    left = ChangeSet.objects.filter(pk=change_id, state__in=AT_WORK, lease_until__lt=clock.shared_now())
    if not left.update(claimed_by=worker_name(), lease_until=lease_end(), version=F("version") + 1):
        return
    change = change_get(change_id)
    log.warning("change_orphaned", change=change_id)
    with acting_as("system"):
        if change.instance is None:
            outcome.instance_gone(change)
            return
        run = Run(change, lambda: renew(change))
        try:
            undo(run, "worker_lost", "The worker that ran this change has stopped.")
        except LeaseLost:
            log.warning("change_taken_over", change=change_id)
        finally:
            run.close()
