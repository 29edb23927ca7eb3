"""Runs a change set: claims it, runs its steps, reads back, and keeps the outcome or undoes it.

A claim is one conditional update, so of two workers only one runs the change. Every step first renews the lease, which
fails once another worker has taken over: a worker that paused longer than its lease stops without touching the server
or the rows of its steps. A finished step is recorded together with the start of the next one; until then it is a step
to undo. A change for the maintenance window that comes late, or after the clock was set forward, waits for the next
window.
"""

from __future__ import annotations

import os
import platform
import threading
from contextlib import suppress
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from controlplane.changes import outcome
from controlplane.changes.models import ChangeSet, ChangeStep
from controlplane.changes.selectors import is_due
from controlplane.changes.states import AT_WORK, ChangeState, StepState, When
from controlplane.changes.steps import Run, do_step, undo_step
from controlplane.changes.windows import window_opening
from controlplane.core import clock
from controlplane.core.errors import Problem
from controlplane.core.request_context import acting_as
from controlplane.gateway.errors import GatewayError

log = structlog.get_logger(__name__)


class LeaseLost(Exception):
    """Another worker has taken over the change. This one must stop without touching the server or the rows."""


class Aborted(Exception):
    """A user requested the abort while the change was running; its steps must be undone."""


def worker_name() -> str:
    return f"{platform.node()}:{os.getpid()}:{threading.get_ident()}"[:100]


def lease_end(now: datetime | None = None) -> datetime:
    return (now or clock.shared_now()) + timedelta(seconds=settings.CHANGE_LEASE_SECONDS)


def claim(change: ChangeSet, now: datetime) -> bool:
    """Claims the change for this worker, in the database and in `change`.

    False if it was not due, another worker has it, or another change runs on its instance; nothing was changed then.
    """
    due = ChangeSet.objects.filter(is_due(now), pk=change.pk)
    facts = {"state": ChangeState.APPLYING, "claimed_by": worker_name(), "lease_until": lease_end(now)}
    try:
        with transaction.atomic():
            won = due.update(**facts, started_at=now, version=F("version") + 1)
            if won:
                for name, value in facts.items():
                    setattr(change, name, value)
                outcome.begin(change)
    except IntegrityError:
        return False  # the sweep tries again when the other change has ended
    return bool(won)


def _put_off(change: ChangeSet, now: datetime) -> bool:
    if change.when != When.WINDOW or change.instance is None:
        return False
    instance = change.instance
    opening = window_opening(now, instance.window_weekday, instance.window_start, instance.window_minutes)
    if opening <= now:
        return False
    waiting = ChangeSet.objects.filter(pk=change.pk, state=ChangeState.APPROVED, when=When.WINDOW)
    if waiting.update(not_before=opening):
        log.info("change_postponed", change=change.pk, until=opening.isoformat())
    return True


def renew(change: ChangeSet) -> None:
    if not _held(change).update(lease_until=lease_end()):
        raise LeaseLost(change.pk)


def _held(change: ChangeSet) -> QuerySet[ChangeSet]:
    return ChangeSet.objects.filter(pk=change.pk, claimed_by=change.claimed_by, state__in=AT_WORK)


def change_run(change_id: str) -> ChangeSet | None:
    """Runs the change to its end and returns it; its state says whether it was applied or undone.

    None if it is not due, was put off, or another worker has it.
    """
    now = clock.shared_now()
    found = ChangeSet.objects.filter(is_due(now), pk=change_id)
    change = found.select_related("instance__instance_class", "template").prefetch_related("lines", "steps").first()
    if change is None or _put_off(change, now):
        return None
    with acting_as(change.approved_by or change.created_by, change.created_by_id):
        if not claim(change, now):
            return None
        try:
            _run(change)
        except LeaseLost:
            log.warning("change_taken_over", change=change.pk)
            return None
    return change


def _run(change: ChangeSet) -> None:
    if change.instance is None:
        outcome.instance_gone(change)
        return
    run = Run(change, lambda: renew(change))
    try:
        run.check_unmoved()
        run.check_allowed()
        done: ChangeStep | None = None
        for step in change.steps.all():
            _do(run, step, done)
            done = step
        _advance(run, done)
        run.verify()
        outcome.applied(run)
    except Aborted:
        undo(run, "aborted", "Aborted on request.")
    except Problem as error:
        undo(run, error.code, error.detail)
    except LeaseLost:
        raise
    except Exception as error:
        log.exception("change_crashed", change=change.pk)
        undo(run, "internal", f"{type(error).__name__}: {error}")
    finally:
        run.close()


@transaction.atomic
def _advance(run: Run, done: ChangeStep | None) -> None:
    run.renew()
    run.change.state = ChangeState.VERIFYING
    _held(run.change).update(state=ChangeState.VERIFYING)
    _keep_done(done)
    outcome.publish(run.change)


def _do(run: Run, step: ChangeStep, done: ChangeStep | None) -> None:
    """Runs a step.

    `done` is the step before it, whose end is recorded in the transaction that records the start of this one. The
    caller records the end of this step. Raises Aborted, LeaseLost, or the Problem for which the step failed.
    """
    with transaction.atomic():
        run.renew()
        _keep_done(done)
        _refuse_if_aborted(run.change)
        _mark(step, StepState.RUNNING, started_at=timezone.now())
        outcome.publish(run.change)
    try:
        do_step(run, step)
    except Problem as error:
        with transaction.atomic():
            run.renew()
            _mark(step, StepState.FAILED, detail=error.detail, finished_at=timezone.now())
            outcome.publish(run.change)
        raise
    step.state, step.finished_at = StepState.DONE, timezone.now()


def _keep_done(step: ChangeStep | None) -> None:
    if step is not None:
        _mark(step, StepState.DONE)


def _refuse_if_aborted(change: ChangeSet) -> None:
    if ChangeSet.objects.filter(pk=change.pk, is_abort_requested=True).exists():
        raise Aborted


def _mark(step: ChangeStep, state: StepState, **facts: object) -> None:
    step.state = state
    for name, value in facts.items():
        setattr(step, name, value)
    step.save(update_fields=["state", "old", "detail", "started_at", "finished_at"])


def undo(run: Run, code: str, detail: str) -> None:
    """Undoes every step that was started, whatever its result, and ends the change with `code` and `detail`.

    The outcome names the steps that could not be undone. Raises LeaseLost if another worker has taken over.
    """
    run.close()  # the connection may be what failed
    failures = []
    for step in undo_order(list(run.change.steps.all())):
        try:
            run.renew()
            undo_step(run, step)
            _mark_undone(run, step, StepState.UNDONE)
        except (LeaseLost, DatabaseError):
            raise  # nothing can be recorded any more; the worker that takes over will do it
        # such as a full disk: a step that cannot be undone must not keep the others from being undone
        except Exception as error:
            log.warning(
                "step_not_undone", change=run.change.pk, step=step.kind, exc_info=not isinstance(error, Problem)
            )
            failures.append(f"{f'{step.kind} {step.name}'.strip()}: {error}")
            _mark_undone(
                run, step, StepState.FAILED, detail=f"could not be undone: {error}", finished_at=timezone.now()
            )
    with suppress(GatewayError):  # the next watch reads it again
        run.look()
    outcome.undone(run, code, detail, failures)


@transaction.atomic
def _mark_undone(run: Run, step: ChangeStep, state: StepState, **facts: object) -> None:
    _mark(step, state, **facts)
    outcome.publish(run.change)


def undo_order(steps: list[ChangeStep]) -> list[ChangeStep]:
    """Returns the steps that were started, in the order in which to undo them: in reverse.

    If a restart was started, the old configuration and a restart come first, since the server may be down.
    """
    begun = [step for step in reversed(steps) if step.state != StepState.PENDING]
    if not any(step.kind == "restart" for step in begun):
        return begun
    first = ["install_engine", "write_configuration", "restart"]
    return sorted(begun, key=lambda step: first.index(step.kind) if step.kind in first else len(first))
