"""The history of an instance's parameters."""

from __future__ import annotations

from datetime import timedelta

from controlplane.changes.models import ChangeLine
from controlplane.changes.selectors import line_list
from controlplane.changes.states import ChangeState
from controlplane.fleet.definitions import instance_line
from controlplane.rpc.actions.action import Action, Answer, Given, reads, utc
from controlplane.rpc.actions.target import instance_of
from controlplane.rpc.arguments import moment, optional, required, whole
from controlplane.rpc.errors import RpcError

STATUS = {
    ChangeState.APPLIED: "Applied",
    ChangeState.ROLLED_BACK: "Failed",
    ChangeState.FAILED: "Failed",
}
MINUTE = timedelta(minutes=1)  # EndTime is a minute that is included in the period
SIZES = (30, 50, 100)


def page_size(raw: str) -> int:
    if raw not in map(str, SIZES):
        raise ValueError(f"write {', '.join(map(str, SIZES))}")
    return int(raw)


def describe(given: Given) -> Answer:
    if given["StartTime"] > given["EndTime"]:
        raise RpcError("InvalidEndTime", "EndTime is before StartTime.")
    instance = instance_of(given["DBInstanceId"])
    span = (given["StartTime"], given["EndTime"] + MINUTE)
    lines = line_list(instance, "").filter(change__finished_at__range=span, change__state__in=list(STATUS))
    first = (given["PageNumber"] - 1) * given["PageSize"]
    page = list(lines.order_by("-change__finished_at", "-id")[first : first + given["PageSize"]])
    return {
        "DBInstanceId": instance.pk,
        "Engine": instance_line(instance).product,
        "EngineVersion": instance.engine_line,
        "PageNumber": given["PageNumber"],
        "PageRecordCount": len(page),
        "TotalRecordCount": lines.count(),
        "Items": {"ParameterChangeLog": [_entry(each) for each in page]},
    }


def _entry(line: ChangeLine) -> Answer:
    return {
        "ParameterName": line.name,
        "OldParameterValue": line.old_submitted or line.old_value or "",
        "NewParameterValue": line.new_submitted or line.new_value or "",
        "ModifyTime": utc(line.change.finished_at),
        "Status": STATUS[ChangeState(line.change.state)],
    }


LOG: dict[str, Action] = {
    "DescribeModifyParameterLog": reads(
        describe,
        required("DBInstanceId"),
        required("StartTime", moment),
        required("EndTime", moment),
        optional("PageSize", page_size, SIZES[0]),
        optional("PageNumber", whole(1, 10**6), 1),
    )
}
