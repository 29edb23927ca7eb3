"""Parameter groups: templates under the dialect's names."""

import json

import pytest

from controlplane.parameters.models import Template

pytestmark = pytest.mark.django_db
VALUES = {"long_query_time": "2", "innodb_buffer_pool_size": "<DBInstanceClassMemory*63/100>"}


def made(rpc, **more):
    facts = {"Engine": "mysql", "EngineVersion": "5.7", "ParameterGroupName": "cache_group", **more}
    facts.setdefault("Parameters", json.dumps(VALUES))
    return rpc.done("CreateParameterGroup", **facts)["ParameterGroupId"]


def shown(rpc, group):
    return rpc.done("DescribeParameterGroup", ParameterGroupId=group)["ParamGroup"]["ParameterGroup"][0]


def details(rpc, group):
    return {each["ParamName"]: each["ParamValue"] for each in shown(rpc, group)["ParamDetail"]["ParameterDetail"]}


def test_a_group_is_made_read_listed_and_deleted(rpc):
    group = made(rpc, ParameterGroupDesc="for shops")
    found = shown(rpc, group)
    assert (found["ParameterGroupName"], found["ParameterGroupDesc"]) == ("cache_group", "for shops")
    assert (found["Engine"], found["EngineVersion"], found["ParamCounts"]) == ("mysql", "5.7", 2)
    assert (found["ParameterGroupType"], found["ForceRestart"]) == (1, 0)
    assert details(rpc, group) == VALUES  # byte for byte
    listed = rpc.done("DescribeParameterGroups", RegionId="anywhere")["ParameterGroups"]["ParameterGroup"]
    assert group in [each["ParameterGroupId"] for each in listed]
    assert rpc.done("DeleteParameterGroup", ParameterGroupId=group)["ParameterGroupId"] == group
    assert rpc.refused("DescribeParameterGroup", ParameterGroupId=group) == (404, "ParamGroupsNotExistError")


def test_collectivity_merges_and_individual_overwrites(rpc):
    group = made(rpc)
    change = {"ParameterGroupId": group, "Parameters": '{"long_query_time": "3", "max_connections": "70"}'}
    rpc.done("ModifyParameterGroup", **change)
    assert details(rpc, group) == VALUES | {"long_query_time": "3", "max_connections": "70"}
    rpc.done("ModifyParameterGroup", **change, ModifyMode="Individual", ParameterGroupDesc="less")
    assert details(rpc, group) == {"long_query_time": "3", "max_connections": "70"}
    assert shown(rpc, group)["ParameterGroupDesc"] == "less"


def test_a_clone_has_the_same_values_under_another_name(rpc):
    group = made(rpc)
    copy = {"ParameterGroupId": group, "ParameterGroupName": "cache_group_2", "TargetRegionId": "elsewhere"}
    rpc.done("CloneParameterGroup", **copy)
    assert details(rpc, Template.objects.get(name="cache_group_2").pk) == VALUES
    assert rpc.refused("CloneParameterGroup", **copy) == (400, "InvalidParameterGroupName.Duplicate")


def test_a_restart_that_a_group_needs_is_a_number_here(rpc):
    group = made(rpc, Parameters='{"back_log": "100"}')
    assert shown(rpc, group)["ForceRestart"] == 1


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"ParameterGroupName": "short"}, "InvalidParameterGroupName.Malformed"),
        ({"ParameterGroupName": "1234567890"}, "InvalidParameterGroupName.Malformed"),
        ({"ParameterGroupDesc": "x" * 201}, "InvalidParameterGroupDesc.Malformed"),
        ({"Parameters": "not json"}, "InvalidParameters.Malformed"),
        ({"Parameters": '["a"]'}, "InvalidParameters.Malformed"),
        ({"Parameters": '{"a": "1", "a": "2"}'}, "InvalidParameters.Malformed"),
        ({"Parameters": '{"a": true}'}, "InvalidParameters.Malformed"),
        ({"Parameters": '{"a": "\\u0000"}'}, "InvalidParameters.Malformed"),
        ({"Parameters": '{"a": "\\ud800"}'}, "InvalidParameters.Malformed"),
        ({"Parameters": "[" * 5000}, "InvalidParameters.Malformed"),
        ({"Parameters": '{"no_such_parameter": "1"}'}, "InvalidParameter"),
        ({"Parameters": '{"query_cache_size": "1000"}'}, "InvalidParameter"),
        ({"EngineVersion": "8.0"}, "InvalidEngineVersion.NotFound"),
        ({"Engine": ""}, "InvalidEngine.Malformed"),
    ],
)
def test_a_group_that_cannot_be_is_refused_by_name(rpc, facts, code):
    whole = {"Engine": "mysql", "EngineVersion": "5.7", "ParameterGroupName": "cache_group", "Parameters": "{}"}
    assert rpc.refused("CreateParameterGroup", **whole | facts)[1] == code
    assert not Template.objects.filter(is_system=False).exists()


def test_numbers_are_kept_as_they_were_written(rpc):
    group = made(rpc, Parameters='{"long_query_time": 0.10, "max_connections": 70}')
    assert details(rpc, group) == {"long_query_time": "0.10", "max_connections": "70"}


def test_groups_that_ship_stay_as_they_are(rpc):
    system = Template.objects.filter(is_system=True).first()
    for action in ("DeleteParameterGroup", "ModifyParameterGroup"):
        assert rpc.refused(action, ParameterGroupId=system.pk) == (403, "OperationDenied.SystemTemplate")


def test_listing_groups_costs_the_same_however_many(rpc, django_assert_max_num_queries):
    for number in range(15):
        made(rpc, ParameterGroupName=f"cache_group_{number}")
    with django_assert_max_num_queries(8):
        rpc.done("DescribeParameterGroups")


def test_a_group_takes_no_value_that_is_never_set(rpc):
    values = {"Engine": "mysql", "EngineVersion": "5.7", "ParameterGroupName": "open_group"}
    values["Parameters"] = '{"port": "3307"}'
    assert rpc.refused("CreateParameterGroup", **values) == (400, "InvalidParameter")


def test_a_group_with_what_is_for_administrators_is_made_and_applied_by_them(rpc, signer, instance):
    values = {"Engine": "mysql", "EngineVersion": "5.7", "ParameterGroupName": "logged_group"}
    values["Parameters"] = '{"general_log": "ON"}'
    assert rpc.refused("CreateParameterGroup", **values) == (403, "OperationDenied.AdminOnly")
    group = made(signer("admin"), Parameters='{"general_log": "ON"}')
    asked = {"DBInstanceId": instance.pk, "ParameterGroupId": group}
    assert rpc.refused("ModifyParameter", **asked) == (400, "OperationDenied.AdminOnly")
