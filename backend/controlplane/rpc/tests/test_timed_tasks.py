"""Changes that wait for a time or for the maintenance window are listed, moved and cancelled by their number."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.changes.models import ChangeSet

pytestmark = pytest.mark.django_db


def later(**more):
    return f"{datetime.now(UTC) + timedelta(**more):%Y-%m-%dT%H:%M:%SZ}"


@pytest.fixture
def change(rpc, instance):
    def make(**timing):
        facts = {"DBInstanceId": instance.pk, "Parameters": '{"long_query_time": "3"}'}
        return rpc.call("ModifyParameter", **facts, **timing)

    return make


def tasks(rpc, instance):
    return rpc.done("DescribeParameterTimedScheduleTask", DbInstanceName=instance.pk)["TaskList"]


def test_a_task_for_a_time_is_listed_moved_and_given_up(rpc, instance, change):
    at, moved_to = later(hours=1), later(hours=2)
    assert change(SwitchTimeMode="ScheduleTime", SwitchTime=at)[0] == 200
    (task,) = tasks(rpc, instance)
    assert (task["Status"], task["SwitchTime"], task["DBInstanceName"]) == ("PENDING", at, instance.pk)
    assert json.loads(task["Parameters"]) == {"long_query_time": "3"}
    this = {"DBInstanceName": instance.pk, "TaskId": task["TaskId"]}
    assert task["TaskId"].isdigit()
    rpc.done("ModifyParameterTimedScheduleTask", **this, SwitchTime=moved_to)
    (task,) = tasks(rpc, instance)
    assert (task["Status"], task["SwitchTime"]) == ("PENDING", moved_to)
    assert AuditEvent.objects.filter(action="change.rescheduled").count() == 1
    rpc.done("DeleteParameterTimedScheduleTask", **this)
    assert tasks(rpc, instance) == []
    assert ChangeSet.objects.get().state == "aborted"
    assert rpc.refused("DeleteParameterTimedScheduleTask", **this) == (404, "InvalidTaskId.NotFound")


def test_a_waiting_task_leaves_the_instance_running(rpc, instance, change):
    change(SwitchTimeMode="ScheduleTime", SwitchTime=later(hours=1))
    found = rpc.done("DescribeDBInstances", DBInstanceId=instance.pk)
    assert found["Items"]["DBInstance"][0]["DBInstanceStatus"] == "Running"


def test_a_task_for_the_window_opens_with_it(rpc, instance, change):
    opens = (datetime.now(UTC) + timedelta(hours=3)).replace(second=0, microsecond=0)
    instance.window_start, instance.window_minutes = opens.time(), 60
    instance.save()
    assert change(SwitchTimeMode="MaintainTime")[0] == 200
    assert tasks(rpc, instance)[0]["SwitchTime"] == f"{opens:%Y-%m-%dT%H:%M:%SZ}"


@pytest.mark.parametrize(
    ("timing", "code"),
    [
        ({"SwitchTimeMode": "ScheduleTime"}, "MissingParameter"),
        ({"SwitchTimeMode": "ScheduleTime", "SwitchTime": "2020-01-01T00:00:00Z"}, "InvalidSwitchTime"),
        ({"SwitchTimeMode": "ScheduleTime", "SwitchTime": "soon"}, "InvalidSwitchTime.Malformed"),
        ({"SwitchTime": "2999-01-01T00:00:00Z"}, "InvalidSwitchTime.NotSupported"),
        ({"SwitchTimeMode": "Whenever"}, "InvalidSwitchTimeMode.Malformed"),
    ],
)
def test_a_time_that_makes_no_sense_is_refused(change, timing, code):
    status, body = change(**timing)
    assert (status, body["Code"]) == (400, code)


def test_a_task_that_has_ended_is_kept_as_it_was(rpc, instance, change):
    change(SwitchTimeMode="ScheduleTime", SwitchTime=later(hours=1))
    number = tasks(rpc, instance)[0]["TaskId"]
    ChangeSet.objects.update(state="applied")
    assert tasks(rpc, instance)[0]["Status"] == "COMPLETED"
    this = {"DBInstanceName": instance.pk, "TaskId": number}
    assert rpc.refused("DeleteParameterTimedScheduleTask", **this) == (403, "IncorrectTaskStatus")
    moved = {**this, "SwitchTime": later(hours=2)}
    assert rpc.refused("ModifyParameterTimedScheduleTask", **moved) == (403, "IncorrectTaskStatus")
