"""Changes of parameters that wait for a time or a window."""

from __future__ import annotations

import json

from django.db.models import QuerySet

from controlplane.changes import services
from controlplane.changes.models import ChangeSet
from controlplane.changes.rescheduling import change_reschedule
from controlplane.changes.states import WAITING, ChangeState, Kind, When
from controlplane.fleet.models import Instance
from controlplane.rpc.actions.action import Action, Answer, Given, reads, utc, writes
from controlplane.rpc.actions.target import instance_of
from controlplane.rpc.actions.timing import check_future, task_number
from controlplane.rpc.arguments import moment, required, whole
from controlplane.rpc.errors import RpcError

STATUS = {
    ChangeState.APPROVED: "PENDING",
    ChangeState.APPLYING: "EXECUTING",
    ChangeState.VERIFYING: "EXECUTING",
    ChangeState.APPLIED: "COMPLETED",
    ChangeState.ROLLED_BACK: "FAILED",
    ChangeState.FAILED: "FAILED",
}
MOST_SHOWN = 100


def _timed(instance: Instance) -> QuerySet[ChangeSet]:
    return instance.changes.filter(kind=Kind.PARAMETERS, state__in=list(STATUS)).exclude(when=When.NOW)


def describe(given: Given) -> Answer:
    instance = instance_of(given["DbInstanceName"])
    newest = _timed(instance).select_related("task_number").prefetch_related("lines")[:MOST_SHOWN]
    return {"TaskList": [_task(each) for each in newest]}


def _task(change: ChangeSet) -> Answer:
    wanted = {line.name: line.new_submitted for line in change.lines.all()}
    return {
        "TaskId": str(change.task_number.pk if hasattr(change, "task_number") else task_number(change)),
        "DBInstanceName": change.instance_id,
        "Parameters": json.dumps(wanted),
        "Status": STATUS[ChangeState(change.state)],
        "SwitchTime": utc(change.not_before),
    }


def modify(given: Given) -> Answer:
    check_future(given["SwitchTime"])
    change_reschedule(_pending(given), given["SwitchTime"])
    return {}


def delete(given: Given) -> Answer:
    services.change_abort(_pending(given))
    return {}


def _pending(given: Given) -> ChangeSet:
    task = given["TaskId"]
    change = _timed(instance_of(given["DBInstanceName"])).filter(task_number=task).first()
    if change is None:
        raise RpcError("InvalidTaskId.NotFound", f"This instance has no timed task {task}.", 404)
    if change.state not in WAITING:
        status = STATUS[ChangeState(change.state)]
        raise RpcError("IncorrectTaskStatus", f"Task {task} is {status}: a PENDING one was needed.", 403)
    return change


# The dialect spells the name of one argument in two ways.
TASK = (required("DBInstanceName"), required("TaskId", whole(1, 2**53)))
TIMED_TASKS: dict[str, Action] = {
    "DescribeParameterTimedScheduleTask": reads(describe, required("DbInstanceName")),
    "ModifyParameterTimedScheduleTask": writes(modify, *TASK, required("SwitchTime", moment)),
    "DeleteParameterTimedScheduleTask": writes(delete, *TASK),
}
