"""Reads from the dialect's arguments when a change starts: at once, in the maintenance window, or at a time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone

from controlplane.changes import services
from controlplane.changes.models import ChangeSet
from controlplane.changes.states import When
from controlplane.rpc.arguments import Argument, moment, one_of, optional
from controlplane.rpc.errors import RpcError
from controlplane.rpc.models import TaskNumber

IMMEDIATE, WINDOW = "Immediate", "MaintainTime"


def timing_arguments(mode: str, at: str = "ScheduleTime") -> tuple[Argument, Argument]:
    return optional(mode, one_of(IMMEDIATE, WINDOW, at), IMMEDIATE), optional("SwitchTime", moment)


def timing(mode: str, switch_time: datetime | None) -> dict[str, Any]:
    is_at = mode not in (IMMEDIATE, WINDOW)
    if is_at and switch_time is None:
        raise RpcError("MissingParameter", f"{mode} needs SwitchTime.")
    if not is_at and switch_time is not None:
        raise RpcError("InvalidSwitchTime.NotSupported", f"SwitchTime has no meaning with {mode}: leave one out.")
    if switch_time is not None:
        check_future(switch_time)
    return {"when": When.AT if is_at else When.WINDOW if mode == WINDOW else When.NOW, "at": switch_time}


def check_future(switch_time: datetime) -> None:
    if switch_time <= timezone.now():
        raise RpcError("InvalidSwitchTime", "SwitchTime is in the past: it is in UTC, and must be later than now.")


def started(change: ChangeSet) -> ChangeSet:
    """Returns the change set.

    If it needs a second person's approval, which the dialect does not have, it is aborted and RpcError raised.
    """
    if change.needs_second_person:
        services.change_abort(change)
        raise RpcError(
            "OperationDenied.SecondPerson",
            "Restarts take a second person's approval here: make this change in the console or with the API.",
            403,
        )
    return change


def task_number(change: ChangeSet) -> int:
    return TaskNumber.objects.get_or_create(change=change)[0].pk
