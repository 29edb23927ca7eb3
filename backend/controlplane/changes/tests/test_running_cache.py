"""Findings about a cache that runs, and about a server that does not answer."""

import pytest

from controlplane.changes import watch
from controlplane.core.request_context import acting_as
from controlplane.fleet.models import Instance
from testing.changes import changed
from testing.workers import until

pytestmark = pytest.mark.django_db


@pytest.fixture
def cached(instance):
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    return instance


def found_by(operator, instance, **parameters):
    body = {"instance": instance.pk, "parameters": parameters}
    preview = operator.post("/api/v1/changes/preview", body).json()
    return [each for each in preview["findings"] if each["code"] == "empties_cache"]


@pytest.mark.parametrize(
    ("name", "value"), [("query_cache_size", "67108864"), ("fqc_rules", '[{"table": "a.b", "cache": "never"}]')]
)
def test_a_change_that_empties_the_cache_says_so_before_it_is_applied(operator, cached, name, value):
    [finding] = found_by(operator, cached, **{name: value})
    assert (finding["severity"], finding["seen"]) == ("advice", f"this change empties the cache ({name})")


def test_other_changes_and_a_cache_that_is_off_are_not_warned_of(operator, cached):
    assert not found_by(operator, cached, long_query_time="3")
    changed(cached, {"query_cache_type": "0", "query_cache_size": "0"})
    assert not found_by(operator, cached, query_cache_size="67108864")


def test_the_list_of_instances_tells_the_state_of_the_cache_and_its_size(viewer, instance, shared_server):
    def listed():
        [row] = viewer.get("/api/v1/instances").json()["items"]
        return row

    assert listed()["cache"]["state"] == "off"
    server = shared_server.connect()
    server.run("SET GLOBAL fqc_size = 1048576, GLOBAL fqc_type = 1")
    with acting_as("system"):
        watch.watch()
    assert listed()["cache"] == {"state": "on", "size_bytes": 1048576, "used_bytes": None}
    server.run("SET GLOBAL fqc_type = 2")
    with acting_as("system"):
        watch.watch()
    assert listed()["cache"]["state"] == "on_demand"
    server.close()


def test_the_engine_of_a_server_that_nobody_has_looked_at_is_not_said_to_be_missing(viewer, instance):
    Instance.objects.filter(pk=instance.pk).update(minor_version=None, last_seen_at=None)
    [row] = viewer.get("/api/v1/instances").json()["items"]
    assert row["cache"]["state"] == "off"


def test_enabling_leaves_a_buffer_pool_alone_that_is_too_small_to_shrink_and_says_so(operator, instance, shared_server):
    server = shared_server.connect()
    pool = server.value("SELECT @@innodb_buffer_pool_size")

    def planned():
        preview = operator.post(f"/api/v1/instances/{instance.pk}/cache/preview", {}).json()
        codes = [finding["code"] for finding in preview["findings"]]
        return codes, {line["name"] for line in preview["lines"]}

    assert "innodb_buffer_pool_size" in planned()[1]
    server.run("SET GLOBAL innodb_buffer_pool_size = 67108864")
    until(lambda: "innodb_buffer_pool_size" not in planned()[1], "the buffer pool is small")
    codes, names = planned()
    server.run(f"SET GLOBAL innodb_buffer_pool_size = {pool}")
    server.close()
    assert "below_minimum" not in codes and {"query_cache_size", "query_cache_type"} <= names
    assert "pool_not_shrunk" in codes


def test_a_server_that_does_not_answer_keeps_no_checks_that_were_met_before(viewer, instance):
    Instance.objects.filter(pk=instance.pk).update(port=1)
    answer = viewer.get(f"/api/v1/instances/{instance.pk}/prerequisites").json()
    assert [each["code"] for each in answer["findings"]] == ["server_unreachable"]


def test_a_server_that_was_never_reached_is_not_said_to_have_no_engine(operator, instance):
    Instance.objects.filter(pk=instance.pk).update(port=1, minor_version=None, last_seen_at=None, compatibility="")
    body = {"instance": instance.pk, "parameters": {"query_cache_type": "1"}}
    findings = operator.post("/api/v1/changes/preview", body).json()["findings"]
    codes = {each["code"] for each in findings}
    assert "server_silent" in codes and not codes & {"minor_version", "no_engine_there"}


def test_a_buffer_pool_that_was_set_with_a_suffix_gives_a_tenth_to_the_cache(operator, instance):
    changed(instance, {"innodb_buffer_pool_size": "256M"})
    asked = {"rule": "explicit", "size_bytes": 1048576}
    preview = operator.post(f"/api/v1/instances/{instance.pk}/cache/preview", asked).json()
    sizes = {line["name"]: line["new_value"] for line in preview["lines"]}
    assert int(sizes["innodb_buffer_pool_size"]) == 256 * 1024**2 * 9 // 10 // 1024 * 1024
