"""The dialect with a real MySQL server behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from controlplane.changes.models import ChangeSet
from controlplane.fleet.models import Instance
from controlplane.rpc.tests.signing import Signer
from testing.changes import changed, run
from testing.servers import TestServer, row_for

pytestmark = pytest.mark.django_db
LINE = {"Engine": "MySQL", "EngineVersion": "9.7"}


@pytest.fixture
def instance(shared_mysql: TestServer) -> Iterator[Instance]:
    made: Instance = row_for(shared_mysql)
    yield made
    names = list(made.parameters.values_list("name", flat=True))
    changed(made, dict.fromkeys(names))


def work() -> None:
    for change in ChangeSet.objects.filter(state="approved"):
        assert run(change).state == "applied", change.outcome_detail


def shown(rpc: Signer, instance: Instance, kind: str) -> dict[str, str]:
    rows = rpc.done("DescribeParameters", DBInstanceId=instance.pk)[kind]["DBInstanceParameter"]
    return {row["ParameterName"]: row["ParameterValue"] for row in rows}


def test_it_is_found_as_mysql(rpc: Signer, instance: Instance) -> None:
    (found,) = rpc.done("DescribeDBInstances", Engine="MySQL")["Items"]["DBInstance"]
    assert (found["DBInstanceId"], found["Engine"]) == (instance.pk, "MySQL")


def test_the_catalogue_of_its_line_is_the_servers_own(rpc: Signer, instance: Instance) -> None:
    found = rpc.done("DescribeParameterTemplates", **LINE)
    records = {each["ParameterName"]: each for each in found["Parameters"]["TemplateRecord"]}
    assert "userstat" not in records
    assert (records["back_log"]["ForceRestart"], records["sort_buffer_size"]["ForceRestart"]) == ("true", "false")
    assert records["innodb_dedicated_server"]["ForceRestart"] == "true"


def test_a_group_of_its_line_is_applied_and_read_back(rpc: Signer, instance: Instance) -> None:
    facts: dict[str, Any] = {"ParameterGroupName": "of_mysql_97", "Parameters": json.dumps({"long_query_time": "2.5"})}
    group = rpc.done("CreateParameterGroup", **LINE, **facts)["ParameterGroupId"]
    described = rpc.done("DescribeParameterGroup", ParameterGroupId=group)["ParamGroup"]["ParameterGroup"][0]
    assert (described["Engine"], described["EngineVersion"]) == ("mysql", "9.7")
    rpc.done("ModifyParameter", DBInstanceId=instance.pk, ParameterGroupId=group)
    work()
    assert shown(rpc, instance, "ConfigParameters") == {"long_query_time": "2.5"}
    assert float(shown(rpc, instance, "RunningParameters")["long_query_time"]) == 2.5


def test_what_takes_a_restart_takes_consent(rpc: Signer, instance: Instance) -> None:
    asked = {"DBInstanceId": instance.pk, "Parameters": json.dumps({"back_log": "123"})}
    assert rpc.refused("ModifyParameter", **asked)[1] == "OperationDenied.ForceRestartRequired"
