"""Lists of instances, and operations on a whole instance."""

import json
from datetime import UTC, datetime, time, timedelta

import pytest

from controlplane.changes.models import ChangeSet
from controlplane.fleet.models import Instance, InstanceParameter
from controlplane.metrics.models import Sample
from controlplane.metrics.partitions import partitions_ensure
from controlplane.metrics.tests.fleet import instance_make

pytestmark = pytest.mark.django_db


def listed(rpc, **facts):
    return [each["DBInstanceDescription"] for each in rpc.done("DescribeDBInstances", **facts)["Items"]["DBInstance"]]


@pytest.fixture
def fleet(rpc):
    for number in range(5):
        instance_make(name=f"db-{number}", tags={"tier": "web" if number % 2 else "shop"}, host=f"10.0.0.{number}")


def test_pages_by_number_and_by_token_have_everybody_once(rpc, fleet):
    first = rpc.done("DescribeDBInstances", PageSize="2", PageNumber="3")
    assert (first["TotalRecordCount"], first["PageRecordCount"], first["PageNumber"]) == (5, 1, 3)
    seen, token = [], {}
    while token is not None:
        page = rpc.done("DescribeDBInstances", MaxResults="2", **token)
        seen += [each["DBInstanceDescription"] for each in page["Items"]["DBInstance"]]
        token = {"NextToken": page["NextToken"]} if "NextToken" in page else None
    assert seen == listed(rpc) == [f"db-{number}" for number in range(5)]
    assert rpc.refused("DescribeDBInstances", PageSize="101") == (400, "InvalidPageSize.Malformed")
    for token in ("ü", "AA==", "x"):
        assert rpc.refused("DescribeDBInstances", NextToken=token) == (400, "InvalidNextToken.Malformed")


@pytest.mark.parametrize(
    ("facts", "names"),
    [
        ({"SearchKey": "b-3"}, ["db-3"]),
        ({"Tags": '{"tier": "web"}'}, ["db-1", "db-3"]),
        ({"DBInstanceStatus": "Stopped"}, []),
        ({"Engine": "PostgreSQL"}, []),
        (
            {"Engine": "MySQL", "EngineVersion": "5.7", "DBInstanceClass": "small", "ConnectionString": "10.0.0.2"},
            ["db-2"],
        ),
    ],
)
def test_the_list_is_narrowed(rpc, fleet, facts, names):
    assert listed(rpc, **facts) == names


@pytest.mark.parametrize("tags", ["[]", "x", '{"a": {"b": "c"}}'])
def test_tags_that_cannot_be_read_are_refused(rpc, tags):
    assert rpc.refused("DescribeDBInstances", Tags=tags) == (400, "InvalidTags.Malformed")


@pytest.mark.parametrize("name", ["contains", "isnull", "a__b"])
def test_a_tag_is_a_name_and_nothing_else(rpc, fleet, name):
    assert listed(rpc, Tags=json.dumps({name: "x"})) == []
    instance_make(name="odd", tags={name: "x", "tier": "web"})
    assert listed(rpc, Tags=json.dumps({name: "x", "tier": "web"})) == ["odd"]


@pytest.mark.parametrize("name", ["0", "a b", "'\"", "$.x", ""])
def test_a_name_that_no_tag_has_finds_nothing(rpc, fleet, name):
    assert listed(rpc, Tags=json.dumps({name: "x"})) == []


def test_the_list_costs_the_same_however_long(rpc, fleet, django_assert_max_num_queries):
    with django_assert_max_num_queries(10):
        rpc.done("DescribeDBInstances", PageSize="100")


def test_an_instance_in_full(rpc, instance):
    instance.window_start = time(2)
    instance.save()
    found = rpc.done("DescribeDBInstanceAttribute", DBInstanceId=instance.name)["Items"]["DBInstanceAttribute"][0]
    size = instance.instance_class
    assert (found["DBInstanceId"], found["DBInstanceClass"], found["Port"]) == (
        instance.pk, size.name, str(instance.port),
    )  # fmt: skip
    assert found["CurrentKernelVersion"] == found["LatestKernelVersion"] == f"rds_{instance.minor_version}"
    assert (found["DBInstanceMemory"], found["DBInstanceCPU"]) == (size.memory_bytes // 2**20, str(size.cpu_count))
    assert (found["MaintainTime"], found["MaxConnections"]) == ("02:00Z-03:00Z", size.max_connections)


def steps(kind):
    change = ChangeSet.objects.get(kind=kind)
    return change.when, [step.kind for step in change.steps.all()]


def test_a_restart(rpc, instance):
    rpc.done("RestartDBInstance", DBInstanceId=instance.pk)
    assert steps("restart") == ("now", ["write_configuration", "restart"])
    found = rpc.done("DescribeDBInstances", DBInstanceId=instance.pk)["Items"]["DBInstance"][0]
    assert found["DBInstanceStatus"] == "Rebooting"


def test_an_upgrade_leads_to_what_is_offered_and_has_a_number(rpc, instance):
    asked = {"DBInstanceId": instance.pk, "TargetMinorVersion": "rds_20200331", "UpgradeTime": "MaintainTime"}
    done = rpc.done("UpgradeDBInstanceKernelVersion", **asked)
    assert (done["TargetMinorVersion"], done["TaskId"].isdigit()) == (f"rds_{instance.minor_version}", True)
    assert steps("upgrade") == ("window", ["install_engine", "restart"])
    newer = {"DBInstanceId": instance.pk, "TargetMinorVersion": "rds_29990101"}
    assert rpc.refused("UpgradeDBInstanceKernelVersion", **newer) == (404, "InvalidTargetMinorVersion.NotFound")


def test_an_upgrade_at_a_time(rpc, instance):
    at = f"{datetime.now(UTC) + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
    asked = {"DBInstanceId": instance.pk, "UpgradeTime": "SpecifyTime", "SwitchTime": at}
    rpc.done("UpgradeDBInstanceKernelVersion", **asked)
    assert steps("upgrade")[0] == "at"


def test_another_class_needs_a_cache_that_follows(rpc, instance):
    row = InstanceParameter.objects.create(
        instance=instance, name="query_cache_size", submitted="8388608", resolved="8388608", running="8388608"
    )
    resize = {"DBInstanceId": instance.pk, "DBInstanceClass": "local.small", "PayType": "Postpaid"}
    assert rpc.refused("ModifyDBInstanceSpec", **resize) == (403, "OperationDenied.CacheSizeUndecided")
    row.delete()
    done = rpc.done("ModifyDBInstanceSpec", **resize)
    assert (done["DBInstanceId"], type(done["OrderId"])) == (instance.pk, int)
    assert steps("resize")[1][0] == "set_class"


def test_an_unknown_class_is_refused(rpc, instance):
    resize = {"DBInstanceId": instance.pk, "DBInstanceClass": "rds.huge"}
    assert rpc.refused("ModifyDBInstanceSpec", **resize) == (404, "InvalidDBInstanceClass.NotFound")


def test_the_dedicated_proxy_is_switched(rpc, instance):
    this = {"DBInstanceId": instance.pk}
    Instance.objects.update(proxy_enabled=True)
    shown = rpc.done("DescribeDBProxy", **this)
    assert (shown["DBProxyServiceStatus"], shown["DBProxyInstanceType"]) == ("Startup", "2")
    assert rpc.refused("ModifyDBProxy", **this, ConfigDBProxyService="Modify")[1] == (
        "InvalidConfigDBProxyService.NotSupported"
    )
    assert rpc.refused("ModifyDBProxy", **this, ConfigDBProxyService="Startup", DBProxyInstanceType="common")[1] == (
        "InvalidDBProxyInstanceType.Malformed"
    )
    rpc.done("ModifyDBProxy", **this, ConfigDBProxyService="Shutdown")
    assert steps("proxy") == ("now", ["set_proxy"])


def test_an_external_server_is_not_restarted_from_here(rpc):
    instance = instance_make()
    for action in ("RestartDBInstance", "UpgradeDBInstanceKernelVersion"):
        assert rpc.refused(action, DBInstanceId=instance.pk) == (400, "OperationDenied.NotLocal")


def performance(rpc, instance, key, **span):
    now = datetime.now(UTC)
    times = {"StartTime": f"{now - timedelta(hours=1):%Y-%m-%dT%H:%MZ}", "EndTime": f"{now:%Y-%m-%dT%H:%MZ}"}
    return rpc.call("DescribeDBInstancePerformance", DBInstanceId=instance.pk, Key=key, **times | span)


def test_the_caches_counters_have_keys(rpc):
    instance = instance_make()
    at = int((datetime.now(UTC) - timedelta(minutes=30)).timestamp())
    partitions_ensure(Sample, at, at)
    Sample.objects.create(instance_id=instance.pk, at=at, seconds=10, hits=90, lookups=120, inserts=30, not_cached=10)
    status, body = performance(rpc, instance, "MySQL_QueryCacheRequests,hit_ratio")
    assert status == 200
    requests, ratio = body["PerformanceKeys"]["PerformanceKey"]
    assert (requests["ValueFormat"], requests["Unit"]) == ("hits&inserts&not_cached", "int/s")
    assert [each["Value"] for each in requests["Values"]["PerformanceValue"]] == ["9.00&3.00&1.00"]
    assert [each["Value"] for each in ratio["Values"]["PerformanceValue"]] == ["75.00"]
    assert datetime.fromisoformat(ratio["Values"]["PerformanceValue"][0]["Date"]).tzinfo is not None


@pytest.mark.parametrize(
    ("key", "span", "code"),
    [
        ("MySQL_Nonsense", {}, "InvalidKey.NotFound"),
        (",", {}, "InvalidKey.NotFound"),
        ("hit_ratio", {"EndTime": "2020-01-01T00:00Z"}, "InvalidEndTime"),
        ("hit_ratio", {"EndTime": "9999-12-31T23:59Z"}, "InvalidEndTime.Malformed"),
        ("hit_ratio", {"StartTime": "2020-01-01T00:00Z"}, "InvalidEndTime"),
    ],
)
def test_performance_that_cannot_be_is_refused(rpc, key, span, code):
    assert performance(rpc, instance_make(), key, **span)[1]["Code"] == code
