"""Runs a fleet apply: at most `parallelism` items at a time, the next as soon as one has ended.

Items are dispatched under a lock on the fleet apply's row, so that two workers do not dispatch too many. The worker
that ends an item dispatches the next one, and for a while to itself, since a message takes longer than many changes.
The sweep dispatches for workers that died. An item whose worker is lost before its change was made is returned to the
queue after a change's lease; a worker that was only slow finds that the item is no longer its own. Once the change was
made, its outcome decides: a change that was not started is run, one that was started is undone (changes/upkeep.py).
"""

from __future__ import annotations

import time
from collections import Counter
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from controlplane.accounts.roles import Role
from controlplane.audit.services import audit_record
from controlplane.changes.execution import change_run
from controlplane.changes.models import ChangeSet
from controlplane.changes.planning import preview_parameters
from controlplane.changes.services import (
    change_approve_held,
    change_make,
    revert_make,
    revert_preview,
    upgrade_preview,
)
from controlplane.changes.states import ENDED, ChangeState, Kind, When
from controlplane.changes.windows import window_opening
from controlplane.core import clock
from controlplane.core.errors import Conflict, Problem
from controlplane.core.request_context import acting_as
from controlplane.fleet.models import Instance
from controlplane.fleet.template_uses import template_use_note
from controlplane.gateway.engine import library_digest
from controlplane.parameters.models import TemplateVersion
from controlplane.rollouts.delivery import deliver_advance, deliver_item
from controlplane.rollouts.models import FleetApply, FleetApplyItem
from controlplane.rollouts.services import publish
from controlplane.rollouts.states import AT_WORK, NOT_BEGUN, ApplyKind, ApplyState, ItemState
from controlplane.rollouts.upgrading import Wave

LOST_AFTER = timedelta(seconds=60)
OWN_SECONDS = 2.0  # after that the worker takes other tasks or can stop


@transaction.atomic
def advance(fleet_apply_id: str, *, keeps_one: bool = False) -> int | None:
    """Moves a fleet apply on: sends as many of its waiting items (one per instance) to workers as there is room for,
    and ends it when no items are left or too many failed.

    With `keeps_one` the first item is not sent to a worker but returned for the caller to run. Returns None if there is
    none for the caller.
    """
    row = FleetApply.objects.select_for_update().filter(pk=fleet_apply_id, state=ApplyState.RUNNING).first()
    if row is None:
        return None
    states = Counter(row.items.filter(state__in=[ItemState.FAILED, *AT_WORK]).values_list("state", flat=True))
    if states[ItemState.FAILED] > row.max_failures:
        _end(row, ApplyState.STOPPED)
        return None
    at_work = sum(states[state] for state in AT_WORK)
    if row.kind == ApplyKind.UPGRADE and (at_work or not _wave_passed(row)):
        return None
    room = max(row.parallelism - at_work, 0)
    pending = row.items.filter(state=ItemState.PENDING)
    chosen = list(_in_time(row, pending).values_list("pk", flat=True)[:room])
    if chosen:
        handed_out = FleetApplyItem.objects.filter(pk__in=chosen)
        handed_out.update(state=ItemState.DISPATCHED, dispatched_at=clock.shared_now())
    own = chosen.pop(0) if chosen and keeps_one else None
    for pk in chosen:
        transaction.on_commit(lambda pk=pk: deliver_item(pk))
    if not at_work and not chosen and own is None and not pending.exists():
        _end(row, ApplyState.DONE)
    return own


def _wave_passed(row: FleetApply) -> bool:
    """Returns whether the next wave of an upgrade may begin.

    If an upgraded instance fails its check, the fleet apply is stopped. If the wave is not over yet, the sweep checks
    again.
    """
    items = list(row.items.filter(state=ItemState.APPLIED, passed_at=None).select_related("instance"))
    wave = Wave(row, items)
    failures = wave.failures()
    for pk, latency in wave.latencies.items():
        told = {"p95_before_ms": latency.before_ms, "p95_after_ms": latency.after_ms}
        FleetApplyItem.objects.filter(pk=pk).update(**told)
    for pk, detail in failures.items():
        FleetApplyItem.objects.filter(pk=pk).update(state=ItemState.FAILED, detail=detail)
    if failures:
        _end(row, ApplyState.STOPPED)
    elif wave.is_over():
        row.items.filter(pk__in=[item.pk for item in items]).update(passed_at=timezone.now())
        return True
    return False


def _in_time(row: FleetApply, pending: QuerySet[FleetApplyItem]) -> QuerySet[FleetApplyItem]:
    """Returns those of the waiting items that may start now; the sweep checks the others again later.

    An item that waits for its maintenance window does not hold up the others.
    """
    now = clock.shared_now()
    if row.when == When.AT and row.at is not None and row.at > now:
        return pending.none()
    if row.when != When.WINDOW:
        return pending
    place = ("instance__window_weekday", "instance__window_start", "instance__window_minutes")
    windows = pending.exclude(instance=None).order_by().values_list(*place).distinct()
    is_open = Q(instance=None)
    for window in windows:
        if window_opening(now, *window) <= now:
            is_open |= Q(**dict(zip(place, window, strict=True)))
    return pending.filter(is_open)


def _end(row: FleetApply, state: ApplyState) -> None:
    left = row.items.filter(state__in=NOT_BEGUN)
    left.update(state=ItemState.SKIPPED, detail="stopped after failures", finished_at=timezone.now())
    if state == ApplyState.STOPPED and row.items.filter(state=ItemState.RUNNING).exists():
        return  # the worker of the last running item ends it
    FleetApply.objects.filter(pk=row.pk).update(state=state, finished_at=timezone.now(), version=row.version + 1)
    audit_record(f"fleet_apply.{state.value}", row, before={"state": row.state}, after={"state": state.value})
    row.state = state
    publish(row)


def run_items(first: int) -> None:
    """Runs the item with the id `first`, then further ones of its fleet apply for OWN_SECONDS, and sends the rest to
    workers.
    """
    until, item_id = time.monotonic() + OWN_SECONDS, first
    while (fleet_apply_id := run_item(item_id)) is not None:
        following = advance(fleet_apply_id, keeps_one=time.monotonic() < until)
        if following is None:
            return
        item_id = following


def run_item(item_id: int) -> str | None:
    """Applies the change to one instance and records the result; of several callers only the first does.

    Returns the fleet apply's id, or None if the item was not waiting for a worker (any more).
    """
    mine = FleetApplyItem.objects.filter(pk=item_id, state=ItemState.DISPATCHED)
    # it may have waited in the queue for long
    if not mine.update(state=ItemState.RUNNING, dispatched_at=clock.shared_now()):
        return None
    item = FleetApplyItem.objects.select_related(
        "fleet_apply__template", "instance__instance_class", "reverts__instance"
    ).get(pk=item_id)
    row = item.fleet_apply
    # The change acts for the user who started it and accepted the preview, as an administrator only if the preview
    # required that.
    with acting_as(row.started_by, row.started_by_id, role=Role.ADMIN if row.needs_admin else Role.OPERATOR):
        try:
            change = _change_for(item)
            record_outcome(item, change and change_run(change.pk))
        except Problem as error:
            _finish(item, ItemState.FAILED, " ".join([error.detail, *error.statements]))
    return item.fleet_apply_id


def _change_for(item: FleetApplyItem) -> ChangeSet | None:
    """Makes and approves the item's change set, after reading its server again.

    Returns None if nothing is left to change. Raises a Problem if the instance must not be changed now.
    """
    instance, row = item.instance, item.fleet_apply
    if instance is None or instance.version != item.instance_version:
        raise Conflict("The instance has changed since the preview: preview it again.", code="instance_moved")
    if item.reverts is not None:
        return _revert_for(item, item.reverts)
    if row.kind == ApplyKind.UPGRADE:
        return _upgrade_for(item, instance)
    preview = preview_parameters(instance, parameters=row.values, allow_restart=row.allow_restart)
    template = row.template and TemplateVersion(template=row.template, number=row.template_version)
    if not preview.lines:
        if template:
            template_use_note(instance, template.template, template.number)
        return None
    with transaction.atomic():
        _refuse_if_given_up(item)
        note = f"fleet apply {row.pk} of {row.template_name}"
        return _approved(item, change_make(instance, Kind.PARAMETERS, preview, note=note, template=template))


def _revert_for(item: FleetApplyItem, change: ChangeSet) -> ChangeSet:
    preview = revert_preview(change)
    with transaction.atomic():
        _refuse_if_given_up(item)
        return _approved(item, revert_make(change, preview))


def _upgrade_for(item: FleetApplyItem, instance: Instance) -> ChangeSet | None:
    row = item.fleet_apply
    if library_digest(settings.ENGINE_LIBRARY) != row.library_digest:
        raise Conflict("The engine's library was replaced since the preview: preview it again.", code="library_moved")
    if instance.minor_version == row.minor_version:
        return None
    preview = upgrade_preview(instance)
    if preview.needs_restart and not row.allow_restart:
        raise Conflict("A restart is needed to load the new engine: allow it.", code="restart_needed")
    with transaction.atomic():
        _refuse_if_given_up(item)
        note = f"fleet apply {row.pk} of the engine's minor version {row.minor_version}"
        return _approved(item, change_make(instance, Kind.UPGRADE, preview, note=note))


def _approved(item: FleetApplyItem, change: ChangeSet) -> ChangeSet:
    if change.needs_second_person:
        told = "A restart needs a second person's approval: apply to this instance separately."
        raise Conflict(told, code="second_person_needed")
    change_approve_held(change)
    if not _held(item).update(change=change):
        raise _given_up()
    return change


def _held(item: FleetApplyItem) -> QuerySet[FleetApplyItem]:
    """Returns a queryset with the item if this worker still owns it, as `dispatched_at` shows; else it is empty."""
    return FleetApplyItem.objects.filter(pk=item.pk, state=ItemState.RUNNING, dispatched_at=item.dispatched_at)


def _given_up() -> Conflict:
    return Conflict("Aborted before it started: nothing was changed.", code="wrong_state")


def _refuse_if_given_up(item: FleetApplyItem) -> None:
    """Raises Conflict if the fleet apply was aborted, or if the item no longer belongs to this worker. Locks the fleet
    apply's row, so that an abort either came before, or comes after and finds the change.
    """
    row = FleetApply.objects.select_for_update().get(pk=item.fleet_apply_id)
    if row.state == ApplyState.ABORTED or not _held(item).exists():
        raise _given_up()


def record_outcome(item: FleetApplyItem, ended: ChangeSet | None = None) -> None:
    """Records an item's result from `ended`, its change set; if that is None, it is looked up.

    A change that has not ended is left alone.
    """
    change = ended or ChangeSet.objects.filter(fleetapplyitem=item).first()
    if change is None:
        _finish(item, ItemState.UNCHANGED, "")
    elif change.state == ChangeState.APPLIED:
        _finish(item, ItemState.APPLIED, "")
    elif change.state in ENDED:
        _finish(item, ItemState.FAILED, f"{change.state}: {change.outcome_detail}")


@transaction.atomic
def _finish(item: FleetApplyItem, state: ItemState, detail: str) -> None:
    if _held(item).update(state=state, detail=detail, finished_at=timezone.now()):
        publish(item.fleet_apply)


@transaction.atomic
def _put_back(item: FleetApplyItem) -> None:
    """Puts an item whose worker died before it changed anything back into the queue.

    If nothing of its fleet apply may start any more, the item is skipped.
    """
    row = FleetApply.objects.select_for_update().get(pk=item.fleet_apply_id)
    lost = _held(item).filter(change=None)
    if row.state in (ApplyState.RUNNING, ApplyState.PAUSED):
        lost.update(state=ItemState.PENDING, dispatched_at=None)
    else:
        lost.update(state=ItemState.SKIPPED, detail=row.state, finished_at=timezone.now())
    publish(row)


def _is_older(age: timedelta) -> Q:
    now = clock.shared_now()
    # A time in the future means that the clock was set back. Delivering an item twice is harmless.
    return Q(dispatched_at__lt=now - age) | Q(dispatched_at__gt=now + age)


def sweep() -> None:
    """Recovers items whose worker died or whose message was lost, and fleet applies that no worker moves on.

    To be called periodically.
    """
    undelivered = FleetApplyItem.objects.filter(_is_older(LOST_AFTER), state=ItemState.DISPATCHED)
    for item_id in undelivered.values_list("pk", flat=True)[:200]:
        deliver_item(item_id)
    lease = timedelta(seconds=settings.CHANGE_LEASE_SECONDS)
    over = Q(change__state__in=ENDED) | (Q(change=None) & _is_older(lease))
    for item in FleetApplyItem.objects.filter(over, state=ItemState.RUNNING).select_related("fleet_apply")[:200]:
        if item.change_id is None:
            _put_back(item)
        else:
            record_outcome(item)
    for row_id in FleetApply.objects.filter(state=ApplyState.RUNNING).values_list("pk", flat=True):
        deliver_advance(row_id)
