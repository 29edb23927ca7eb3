"""Reading and changing parameters of a real server in the RPC dialect."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.changes.execution import change_run
from controlplane.changes.models import ChangeSet
from controlplane.core.ids import new_id
from controlplane.fleet.models import Instance
from controlplane.settings.models import Settings
from testing.catalogue import ABBREVIATED, INVENTED, PATH

pytestmark = pytest.mark.django_db
POOL = "<DBInstanceClassMemory*63/100>"


def work():
    """Runs all approved changes that are to run at once in this process, as a worker would."""
    for change in ChangeSet.objects.filter(state="approved", when="now"):
        change_run(change.pk)


def modify(rpc, instance, parameters, **more):
    return rpc.done("ModifyParameter", DBInstanceId=instance.pk, Parameters=json.dumps(parameters), **more)


def refused(rpc, instance, parameters, **more):
    return rpc.refused("ModifyParameter", DBInstanceId=instance.pk, Parameters=json.dumps(parameters), **more)


def described(rpc, instance, which):
    found = rpc.done("DescribeParameters", DBInstanceId=instance.pk)[which]["DBInstanceParameter"]
    return {each["ParameterName"]: each["ParameterValue"] for each in found}


def status(rpc, instance):
    found = rpc.done("DescribeDBInstanceAttribute", DBInstanceId=instance.pk)
    return found["Items"]["DBInstanceAttribute"][0]["DBInstanceStatus"]


def log(rpc, instance, **more):
    span = {"StartTime": f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:%MZ}"}
    span["EndTime"] = f"{datetime.now(UTC):%Y-%m-%dT%H:%MZ}"
    return rpc.done("DescribeModifyParameterLog", DBInstanceId=instance.pk, **span | more)


def test_what_was_submitted_comes_back_byte_for_byte_beside_the_number(rpc, instance):
    modify(rpc, instance, {"innodb_buffer_pool_size": POOL, "query_cache_size": "8388608"})
    assert status(rpc, instance) == "Modifying"
    work()
    assert status(rpc, instance) == "Running"
    assert described(rpc, instance, "ConfigParameters") == {
        "innodb_buffer_pool_size": POOL, "query_cache_size": "8388608",
    }  # fmt: skip
    running = described(rpc, instance, "RunningParameters")
    memory = instance.instance_class.variables["DBInstanceClassMemory"]
    assert running["innodb_buffer_pool_size"] == str(memory * 63 // 100)
    assert running["query_cache_size"] == "8388608"
    assert len(running) > 300


@pytest.mark.parametrize(
    ("name", "refusal"), [*((name, "NotModifiable") for name in ABBREVIATED), (INVENTED, "NotOnServer")]
)
def test_no_name_that_a_server_could_take_for_another_option_is_modified(rpc, odd_instance, name, refusal):
    value = "7" if name == INVENTED else PATH
    assert refused(rpc, odd_instance, {name: value}, Forcerestart="true") == (400, f"OperationDenied.{refusal}")
    assert not ChangeSet.objects.exists()


def test_the_log_has_old_and_new_and_how_it_ended(rpc, instance):
    modify(rpc, instance, {"long_query_time": "3"})
    work()
    modify(rpc, instance, {"long_query_time": "4"})
    Instance.objects.update(version=99)  # as if another change came first
    work()
    found = log(rpc, instance)
    entries = found["Items"]["ParameterChangeLog"]
    assert [(each["OldParameterValue"], each["NewParameterValue"], each["Status"]) for each in entries] == [
        ("3", "4", "Failed"), (entries[1]["OldParameterValue"], "3", "Applied"),
    ]  # fmt: skip
    assert (found["TotalRecordCount"], found["PageRecordCount"], found["PageNumber"]) == (2, 2, 1)
    assert log(rpc, instance, PageNumber="2")["Items"]["ParameterChangeLog"] == []
    assert rpc.refused("DescribeModifyParameterLog", DBInstanceId=instance.pk, StartTime="x", EndTime="y")[1] == (
        "InvalidStartTime.Malformed"
    )


@pytest.mark.parametrize("no", [{}, {"Forcerestart": "False"}, {"Forcerestart": "false"}])
def test_a_restart_takes_a_word_of_consent(rpc, instance, no):
    assert refused(rpc, instance, {"back_log": "90"}, **no) == (403, "OperationDenied.ForceRestartRequired")
    assert not ChangeSet.objects.exists()


@pytest.mark.parametrize("yes", ["True", "true", "TRUE"])
def test_consent_is_read_in_every_clients_spelling(rpc, instance, yes):
    modify(rpc, instance, {"back_log": "90"}, Forcerestart=yes)
    change = ChangeSet.objects.get()
    assert "restart" in [step.kind for step in change.steps.all()]


def test_where_a_second_person_is_asked_for_a_restart_is_refused(rpc, instance):
    Settings.objects.update_or_create(pk=1, defaults={"is_four_eyes": True})
    assert refused(rpc, instance, {"back_log": "90"}, Forcerestart="true") == (403, "OperationDenied.SecondPerson")
    assert ChangeSet.objects.get().state == "aborted"


def test_one_change_at_a_time(rpc, instance):
    modify(rpc, instance, {"long_query_time": "3"})
    assert refused(rpc, instance, {"long_query_time": "4"}) == (403, "OperationDenied.DBInstanceStatus")


def test_the_same_client_token_acts_once(rpc, instance):
    token = new_id("token")
    first = modify(rpc, instance, {"long_query_time": "3"}, ClientToken=token)
    assert modify(rpc, instance, {"long_query_time": "3"}, ClientToken=token) == first
    assert ChangeSet.objects.count() == 1
    assert refused(rpc, instance, {"long_query_time": "4"}, ClientToken=token) == (400, "IdempotentParameterMismatch")


def test_a_request_that_was_refused_may_be_repeated_with_its_token(rpc, instance):
    token, facts = new_id("token"), {"query_cache_size": "8388608"}
    Instance.objects.update(proxy_enabled=True)
    assert refused(rpc, instance, facts, ClientToken=token) == (400, "OperationDenied.DedicatedProxy")
    Instance.objects.update(proxy_enabled=False)
    modify(rpc, instance, facts, ClientToken=token)


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"proxy_enabled": True}, "OperationDenied.DedicatedProxy"),
        ({"minor_version": 20200330}, "OperationDenied.MinorVersion"),
        ({"compatibility": "8.0"}, "OperationDenied.EngineLine"),
    ],
)
def test_the_cache_has_the_same_conditions_as_everywhere(rpc, instance, facts, code):
    Instance.objects.update(**facts)
    assert refused(rpc, instance, {"query_cache_size": "8388608", "query_cache_type": "1"}) == (400, code)
    assert refused(rpc, instance, {"query_cache_size": "8388608"}, Forcerestart="true") == (400, code)


def test_a_group_is_applied_and_shown_as_the_instances_own(rpc, instance):
    group = rpc.done(
        "CreateParameterGroup", Engine="mysql", EngineVersion="5.7", ParameterGroupName="slow_queries",
        Parameters='{"long_query_time": "2.5"}',
    )["ParameterGroupId"]  # fmt: skip
    assert rpc.done("DescribeParameters", DBInstanceId=instance.pk)["ParamGroupInfo"] == {}
    rpc.done("ModifyParameter", DBInstanceId=instance.pk, ParameterGroupId=group)
    work()
    assert described(rpc, instance, "ConfigParameters") == {"long_query_time": "2.5"}
    info = rpc.done("DescribeParameters", DBInstanceId=instance.pk)["ParamGroupInfo"]
    assert (info["ParamGroupId"], info["ParameterGroupName"], info["ParameterGroupType"]) == (
        group,
        "slow_queries",
        "1",
    )
    related = rpc.done("DescribeParameterGroup", ParameterGroupId=group)["RelatedCustinsInfo"]["RelatedCustinsInfo"]
    assert [each["DBInstanceName"] for each in related] == [instance.pk]
    assert datetime.fromisoformat(related[0]["AppliedTime"]) <= datetime.now(UTC)


def test_an_unknown_group_and_an_unknown_instance_are_refused_by_the_names_that_tools_know(rpc, instance):
    unknown = {"DBInstanceId": instance.pk, "ParameterGroupId": "rpg-none"}
    assert rpc.refused("ModifyParameter", **unknown) == (404, "ParamGroupsNotExistError")
    for action in ("DescribeParameters", "DescribeDBInstanceAttribute", "DescribeDBProxy"):
        assert rpc.refused(action, DBInstanceId="rm-none") == (404, "InvalidDBInstanceId.NotFound")
    assert rpc.refused("ModifyParameter", DBInstanceId=instance.pk) == (400, "MissingParameter")
    assert rpc.refused("DescribeParameters") == (400, "MissingParameter")


def test_templates_say_what_may_be_set_with_booleans_as_texts(rpc, instance):
    found = rpc.done("DescribeParameterTemplates", Engine="MySQL", EngineVersion="5.7")
    records = {each["ParameterName"]: each for each in found["Parameters"]["TemplateRecord"]}
    assert found["ParameterCount"] == str(len(records))
    size = records["query_cache_size"]
    assert (size["ForceRestart"], size["ForceModify"], size["CheckingCode"]) == ("false", "true", "[0-10485760000]")
    assert (records["query_cache_type"]["ForceRestart"], records["query_cache_type"]["CheckingCode"]) == (
        "true", "[0|1|2]",
    )  # fmt: skip
    own = rpc.done("DescribeParameterTemplates", Engine="MySQL", EngineVersion="5.7", DBInstanceId=instance.pk)
    types = {each["ParameterName"]: each["ForceRestart"] for each in own["Parameters"]["TemplateRecord"]}
    assert types["query_cache_type"] == "false"  # the engine switches without a restart


def test_every_change_is_in_the_audit_trail_with_its_key(rpc, instance):
    modify(rpc, instance, {"long_query_time": "3"})
    actions = AuditEvent.objects.filter(token_prefix=rpc.key[0]).values_list("action", flat=True)
    assert {"change.previewed", "change.approved"} <= set(actions)
    assert ChangeSet.objects.get().note == "ModifyParameter"


NEVER = ("general_log_file", "bind_address", "skip_grant_tables", "plugin_dir", "init_file", "datadir", "log_error")


@pytest.mark.parametrize("name", NEVER)
def test_what_is_never_set_is_refused_also_to_administrators(signer, instance, name):
    for role in ("operator", "admin"):
        for more in ({}, {"Forcerestart": "true"}):
            denied = refused(signer(role), instance, {name: "/tmp/x"}, **more)
            assert denied == (400, "OperationDenied.NotModifiable"), (role, more)


def test_what_is_for_administrators_takes_the_key_of_one(rpc, signer, instance):
    assert refused(rpc, instance, {"event_scheduler": "ON"}) == (400, "OperationDenied.AdminOnly")
    modify(signer("admin"), instance, {"event_scheduler": "ON"})
    work()
    assert described(rpc, instance, "RunningParameters")["event_scheduler"] == "ON"
    modify(signer("admin"), instance, {"event_scheduler": "OFF"})
    work()


def test_the_catalogue_tells_what_the_caller_may_modify(rpc, signer, instance):
    asked = {"Engine": "mysql", "EngineVersion": "5.7", "DBInstanceId": instance.pk}
    for who, wanted in ((rpc, "false"), (signer("admin"), "true")):
        records = who.done("DescribeParameterTemplates", **asked)["Parameters"]["TemplateRecord"]
        told = {each["ParameterName"]: each["ForceModify"] for each in records}
        assert (told["long_query_time"], told["general_log"], told["general_log_file"]) == ("true", wanted, "false")
