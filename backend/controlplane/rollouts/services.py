"""Makes and controls fleet applies. `execution` runs their items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from controlplane.accounts.roles import is_by_admin
from controlplane.audit.services import audit_record
from controlplane.changes.models import ChangeSet
from controlplane.changes.services import change_abort
from controlplane.changes.states import ChangeState, When
from controlplane.core.errors import Conflict, Denied, FieldError, Invalid
from controlplane.core.etag import row_held
from controlplane.core.events import event_publish
from controlplane.core.one_at_a_time import one_at_a_time
from controlplane.core.request_context import caller
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import instance_list, instance_tagged
from controlplane.rollouts.delivery import deliver_advance
from controlplane.rollouts.models import FleetApply, FleetApplyItem
from controlplane.rollouts.planning import ItemPreview, preview_fleet
from controlplane.rollouts.states import NOT_BEGUN, OVER, ApplyKind, ApplyState, ItemState
from controlplane.rollouts.subjects import Subject, subject_of
from controlplane.rollouts.upgrading import preview_upgrade

MOST_INSTANCES = 10_000


def instances_wanted(instances: Sequence[str], tags: dict[str, str], every: bool) -> list[Instance]:
    """Returns the instances that have one of the ids or names, or all of the tags; with `every`, all instances.

    Raises Invalid if a name is unknown, or no instances or too many are selected.
    """
    found = instance_list().order_by("name")
    if not every:
        chosen = Q(pk__in=instances) | Q(name__in=instances)
        if tags:
            chosen |= Q(pk__in=instance_tagged(tags).values("pk"))
        found = found.filter(chosen)
    wanted = list(found[: MOST_INSTANCES + 1])
    _refuse_unknown(instances, wanted)
    if not wanted:
        raise Invalid.field("instances", "no instance selected: name instances, or tags that instances have")
    if len(wanted) > MOST_INSTANCES:
        raise Invalid.field("instances", f"at most {MOST_INSTANCES} instances at once")
    return wanted


def _refuse_unknown(names: Sequence[str], found: list[Instance]) -> None:
    known = {each.pk for each in found} | {each.name for each in found}
    unknown = [name for name in names if name not in known]
    if unknown:
        errors = [FieldError("instances", "not_found", f"there is no instance {name}") for name in unknown[:20]]
        raise Invalid(f"instances: there is no instance {unknown[0]}", errors=errors)


def fleet_apply_preview(
    *,
    template: str | None,
    template_version: int | None,
    allow_restart: bool,
    kind: str = ApplyKind.PARAMETERS,
    **which: Any,
) -> tuple[Subject, list[ItemPreview]]:
    subject, instances = subject_of(kind, template, template_version), instances_wanted(**which)
    if kind == ApplyKind.UPGRADE:
        return subject, preview_upgrade(instances, subject.minor_version, allow_restart=allow_restart)
    return subject, preview_fleet(instances, subject.values, allow_restart=allow_restart)


@transaction.atomic
def fleet_apply_create(
    *,
    parallelism: int,
    max_failures: int,
    allow_restart: bool,
    note: str,
    start: bool,
    settle_seconds: int = 0,
    max_p95_percent: int | None = None,
    when: str = When.NOW,
    at: datetime | None = None,
    **what_and_which: Any,
) -> FleetApply:
    subject, previews = fleet_apply_preview(allow_restart=allow_restart, **what_and_which)
    who = caller()
    row = FleetApply.objects.create(
        **asdict(subject),
        settle_seconds=settle_seconds,
        max_p95_percent=max_p95_percent,
        parallelism=parallelism,
        max_failures=max_failures,
        allow_restart=allow_restart,
        needs_admin=any(each.needs_admin and not each.blocking for each in previews),
        note=note,
        when=when,
        at=at,
        created_by=who.actor,
        created_by_id=who.actor_id,
    )
    FleetApplyItem.objects.bulk_create([_item(row, preview) for preview in previews], batch_size=500)
    audit_record("fleet_apply.previewed", row, after={**subject.facts, "instances": len(previews)})
    publish(row)
    return fleet_apply_start(row) if start else row


@transaction.atomic
def fleet_apply_rollback(row: FleetApply) -> FleetApply:
    """Makes and starts a fleet apply that restores the old values on each instance where `row` was applied, each as its
    own change.

    Raises Conflict if `row` has not ended, is rolled back already, or left nothing to restore.
    """
    row = row_held(row)
    if row.state not in OVER:
        raise Conflict(f"{row.pk} is {row.state}: let it finish, or abort it.", code="wrong_state")
    if row.kind == ApplyKind.UPGRADE:
        told = f"{row.pk} replaced the engine: install the older library, and upgrade the same instances to it."
        raise Conflict(told, code="nothing_to_restore")
    made = row.reverted_by.exclude(state__in=OVER).first()
    if made is not None:
        raise Conflict(f"{row.pk} is rolled back by {made.pk}, which is {made.state}.", code="reverted_already")
    applied = row.items.filter(state=ItemState.APPLIED, instance__isnull=False)
    restored = ChangeSet.objects.filter(state=ChangeState.APPLIED, reverts__isnull=False).values("reverts")
    items = list(applied.exclude(change__in=restored).select_related("instance"))
    if not items:
        raise Conflict(f"{row.pk} changed nothing that can still be restored.", code="nothing_to_restore")
    who = caller()
    back = FleetApply.objects.create(
        template_name=row.template_name,
        template_version=row.template_version,
        values={},
        parallelism=row.parallelism,
        max_failures=len(items),  # one failed item must not keep the others from being restored
        allow_restart=row.allow_restart,
        needs_admin=row.needs_admin,
        reverts=row,
        note=f"restores what {row.pk} replaced",
        created_by=who.actor,
        created_by_id=who.actor_id,
    )
    FleetApplyItem.objects.bulk_create([_restoring(back, item) for item in items], batch_size=500)
    audit_record("fleet_apply.previewed", back, after={"reverts": row.pk, "instances": len(items)})
    return fleet_apply_start(back)


def _restoring(back: FleetApply, item: FleetApplyItem) -> FleetApplyItem:
    assert item.instance is not None  # noqa: S101 - the query requires it
    turned = {"old_submitted": "new_submitted", "old_value": "new_value"}
    turned |= {new: old for old, new in turned.items()}
    return FleetApplyItem(
        fleet_apply=back,
        instance=item.instance,
        instance_name=item.instance_name,
        instance_version=item.instance.version,
        reverts_id=item.change_id,
        lines=[{turned.get(name, name): value for name, value in line.items()} for line in item.lines],
        needs_restart=item.needs_restart,
    )


def _item(row: FleetApply, preview: ItemPreview) -> FleetApplyItem:
    return FleetApplyItem(
        fleet_apply=row,
        instance=preview.instance,
        instance_name=preview.instance.name,
        instance_version=preview.instance.version,
        state=ItemState.BLOCKED if preview.blocking else ItemState.PENDING,
        detail="; ".join(preview.blocking),
        lines=preview.lines,
        needs_restart=preview.needs_restart,
    )


@transaction.atomic
def _move(row: FleetApply, froms: Sequence[ApplyState], to: ApplyState, action: str, **facts: Any) -> FleetApply:
    held = FleetApply.objects.filter(pk=row.pk, state__in=froms)
    if not held.update(state=to, version=F("version") + 1, **facts):
        row.refresh_from_db()
        raise Conflict(f"{row.pk} is {row.state}: it cannot be {action} now.", code="wrong_state")
    audit_record(f"fleet_apply.{action}", row, before={"state": row.state}, after={"state": to})
    row.refresh_from_db()
    publish(row)
    return row


def publish(row: FleetApply) -> None:
    event_publish("fleet_apply", row.pk, {"state": row.state})


@transaction.atomic
def fleet_apply_start(row: FleetApply) -> FleetApply:
    _refuse_unless_admin(row)
    one_at_a_time(f"start of {row.template_name}")
    _refuse_twin(row)
    who = caller()
    facts = {"started_at": timezone.now(), "started_by": who.actor, "started_by_id": who.actor_id}
    row = _move(row, [ApplyState.PREVIEWED], ApplyState.RUNNING, "started", **facts)
    transaction.on_commit(lambda: deliver_advance(row.pk))
    return row


def _refuse_twin(row: FleetApply) -> None:
    """Raises Conflict if a running or paused fleet apply does the same on the same instances, since the request may
    have been sent twice.
    """
    same = FleetApply.objects.filter(
        kind=row.kind, template_name=row.template_name, template_version=row.template_version
    )
    for other in same.filter(state__in=[ApplyState.RUNNING, ApplyState.PAUSED]).exclude(pk=row.pk):
        if _members(other) == _members(row):
            raise Conflict(
                f"{other.pk}, {other.state}, does the same on these instances: wait for it to finish, or abort it.",
                code="fleet_apply_running",
            )


def _members(row: FleetApply) -> set[str | None]:
    return set(row.items.values_list("instance_id", flat=True))


def _refuse_unless_admin(row: FleetApply) -> None:
    if row.needs_admin and not is_by_admin():
        raise Denied(
            f"{row.pk} sets parameters reserved for administrators: one of them must start it.", code="admin_only"
        )


@transaction.atomic
def fleet_apply_pause(row: FleetApply) -> FleetApply:
    """Pauses a running fleet apply: running items end, no new ones start, and dispatched items that have not started
    return to the queue.

    Raises Conflict if it is not running.
    """
    row = _move(row, [ApplyState.RUNNING], ApplyState.PAUSED, "paused")
    row.items.filter(state=ItemState.DISPATCHED).update(state=ItemState.PENDING, dispatched_at=None)
    return row


def fleet_apply_resume(row: FleetApply) -> FleetApply:
    _refuse_unless_admin(row)
    row = _move(row, [ApplyState.PAUSED], ApplyState.RUNNING, "resumed")
    transaction.on_commit(lambda: deliver_advance(row.pk))
    return row


@transaction.atomic
def fleet_apply_abort(row: FleetApply) -> FleetApply:
    """Aborts a fleet apply: items that have not started are skipped, and running ones are asked to undo their change.

    Raises Conflict if it has ended.
    """
    open_states = [ApplyState.PREVIEWED, ApplyState.RUNNING, ApplyState.PAUSED]
    row = _move(row, open_states, ApplyState.ABORTED, "aborted", finished_at=timezone.now())
    waiting = row.items.filter(state__in=NOT_BEGUN)
    waiting.update(state=ItemState.SKIPPED, detail="aborted", finished_at=timezone.now())
    for item in row.items.filter(state=ItemState.RUNNING).select_related("change"):
        if item.change is not None and item.change.finished_at is None:
            change_abort(item.change)
    return row
