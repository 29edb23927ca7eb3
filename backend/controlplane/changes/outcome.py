"""How a change set ends: the rows of the change, its instance and the audit trail are written in one transaction.

A reader of the instance then sees the effect of the change at once; the next watch has nothing left to notice.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from controlplane.audit.services import audit_record
from controlplane.changes.models import ChangeLine, ChangeSet
from controlplane.changes.states import WAITING, ChangeState, Kind, StepState
from controlplane.changes.steps import Run
from controlplane.core.events import event_publish
from controlplane.fleet import services as fleet
from controlplane.fleet.models import Instance, InstanceParameter
from controlplane.fleet.observation import moved_of, note_running, parameters_store
from controlplane.fleet.selectors import class_get
from controlplane.fleet.states import State
from controlplane.fleet.template_uses import template_use_note, template_uses_end
from controlplane.gateway.errors import NoTls, Unreachable

MEANWHILE = {Kind.CREATE: State.CREATING, Kind.DELETE: State.DELETING}


def publish(change: ChangeSet) -> None:
    """Publishes an event with the change's state and, once it has started, its progress.

    Callers at every step should have the steps prefetched.
    """
    facts: dict[str, Any] = {"state": change.state, "instance": change.instance_id, "kind": change.kind}
    if change.state not in WAITING:
        at_work = next((step for step in change.steps.all() if step.state == StepState.RUNNING), None)
        facts["step"] = at_work and {"kind": at_work.kind, "name": at_work.name}
        facts["progress"] = change.progress
    event_publish("change", change.pk, facts)


def begin(change: ChangeSet) -> None:
    if change.instance is not None:
        fleet.instance_state_set(change.instance, MEANWHILE.get(Kind(change.kind), State.CHANGING))
    publish(change)


@transaction.atomic
def applied(run: Run) -> None:
    change, instance = run.change, run.instance
    if not _end(change, ChangeState.APPLIED):
        return
    for step in change.steps.all():
        if step.kind == "set_class" and step.new:
            Instance.objects.filter(pk=instance.pk).update(instance_class=class_get(step.new))
        if step.kind == "set_proxy":
            Instance.objects.filter(pk=instance.pk).update(proxy_enabled=step.new == "true")
    if change.kind == Kind.DELETE:
        fleet.instance_forget(instance)
        return
    _keep_parameters(run)
    _keep_template(change, instance)
    fleet.instance_state_set(instance, State.RUNNING, is_version_moved=True)


def _keep_template(change: ChangeSet, instance: Instance) -> None:
    if change.template is not None and change.template_version is not None:
        template_use_note(instance, change.template, change.template_version, is_replacement=change.is_replacement)
    elif change.is_replacement:
        template_uses_end(instance)


def _keep_parameters(run: Run) -> None:
    """Stores what the change configured, and the values that run now, in the instance's parameters."""
    gone = [line.name for line in run.lines if line.new_submitted is None]
    if gone:
        run.instance.parameters.filter(name__in=gone).delete()
    if run.has_restarted:
        run.instance.parameters.update(is_pending_restart=False)
    configured = [_configured(run, line) for line in run.lines if line.new_submitted is not None]
    if run.running is not None:
        moved_of(configured, run.line, run.running, has_restarted=run.has_restarted)
    parameters_store(configured)
    _keep_running(run)


def _keep_running(run: Run) -> None:
    if run.running is not None:
        note_running(run.instance, run.line, run.running, has_restarted=run.has_restarted)


def _configured(run: Run, line: ChangeLine) -> InstanceParameter:
    is_pending = line.needs_restart and not run.has_restarted and line.new_value != line.old_value
    return InstanceParameter(
        instance=run.instance,
        name=line.name,
        submitted=line.new_submitted,
        resolved=line.new_value or "",
        running=line.old_value if is_pending else line.new_value,
        is_pending_restart=is_pending,
    )


@transaction.atomic
def undone(run: Run, code: str, detail: str, failures: list[str]) -> None:
    """Ends a change whose steps were undone: as rolled back, or as failed if `failures` names steps that could not be
    undone.

    `code` and `detail` say why it was undone. Does nothing if another worker has taken over.
    """
    change = run.change
    state = ChangeState.FAILED if failures else ChangeState.ROLLED_BACK
    left = f" Could not be undone: {'; '.join(failures)}. Check the server." if failures else ""
    if _end(change, state, code, detail + left):
        _keep_running(run)
        _leave_instance(change, run.instance, is_lost=bool(failures) or code in (Unreachable.code, NoTls.code))


def _leave_instance(change: ChangeSet, instance: Instance, *, is_lost: bool) -> None:
    """Sets the instance's state after a change that did not succeed: unreachable if `is_lost`, failed after a creation,
    else running.

    This moves its version too: plans that were made in the meantime must be made again.
    """
    state = State.UNREACHABLE if is_lost else State.RUNNING
    if change.kind == Kind.CREATE:
        state = State.FAILED
    reason = "" if state == State.RUNNING else change.outcome_detail
    fleet.instance_state_set(instance, state, reason, is_version_moved=True)


@transaction.atomic
def instance_gone(change: ChangeSet) -> None:
    """Ends a change as failed because its instance was deleted while it waited. There is nothing to do or undo."""
    _end(change, ChangeState.FAILED, "instance_gone", f"{change.instance_name} was deleted. Nothing was changed.")


def _end(change: ChangeSet, state: ChangeState, code: str = "", detail: str = "") -> bool:
    """Ends the change, in the database and in `change`, if this worker still holds it; returns whether it did."""
    facts: dict[str, Any] = {"state": state, "outcome_code": code, "outcome_detail": detail}
    held = ChangeSet.objects.filter(pk=change.pk, claimed_by=change.claimed_by, finished_at=None)
    if not held.update(finished_at=timezone.now(), lease_until=None, version=F("version") + 1, **facts):
        return False
    before = change.state
    change.state, change.outcome_code, change.outcome_detail = state, code, detail
    audit_record(
        f"change.{state.value}", change, before={"state": before}, after={**facts, "instance": change.instance_name}
    )
    publish(change)
    return True
