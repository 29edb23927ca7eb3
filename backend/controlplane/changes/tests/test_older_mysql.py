"""Real servers of MySQL 5.7 and 8.0, as managed services run them: no engine, and all the rest of the product."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from controlplane.changes.cache_planning import preview_enable
from controlplane.changes.watch import watch
from controlplane.fleet.kept_connections import Connections
from controlplane.gateway.server import Server
from controlplane.metrics import polling
from controlplane.metrics.models import Sample
from controlplane.prerequisites.advice import cache_advice
from controlplane.prerequisites.check import instance_check
from controlplane.prerequisites.status import cache_queries
from testing.changes import changed, steps
from testing.servers import TestServer, managed

pytestmark = pytest.mark.django_db
ACCOUNT = "'limited'@'127.0.0.1'"
T = 1_800_000_000


@pytest.fixture
def owner(older_mysql: TestServer) -> Iterator[Server]:
    server = older_mysql.connect()
    yield server
    server.run(f"DROP USER IF EXISTS {ACCOUNT}")
    server.close()


@pytest.fixture
def connections() -> Iterator[Connections]:
    kept = Connections()
    yield kept
    kept.keep_only(())


def test_a_parameter_is_set_seen_to_drift_and_reset(
    older_mysql: TestServer, owner: Server, connections: Connections
) -> None:
    instance = managed(older_mysql)
    change = changed(instance, {"sort_buffer_size": "524288", "long_query_time": "2.5"})
    kinds = {each[0] for each in steps(change)}
    assert kinds == ({"set_global"} if older_mysql.line == "5.7" else {"set_global", "persist"})
    assert (owner.variable("sort_buffer_size"), float(owner.variable("long_query_time") or 0)) == ("524288", 2.5)
    owner.set_global("sort_buffer_size", 300000)
    watch(connections)
    assert instance.parameters.get(name="sort_buffer_size").is_drifted
    changed(instance, {"sort_buffer_size": None, "long_query_time": None})
    assert owner.variable("sort_buffer_size") == "262144"


def test_what_takes_a_restart_is_told(older_mysql: TestServer) -> None:
    change = changed(managed(older_mysql), {"back_log": "123"})
    told = [each for each in change.findings if each["code"] == "pending_restart"]
    assert told if older_mysql.line == "5.7" else [each[0] for each in steps(change)] == ["persist"]


def test_its_counters_are_read(older_mysql: TestServer, owner: Server, connections: Connections) -> None:
    instance = managed(older_mysql)
    polling.poll_round(T, connections)
    for _ in range(20):
        owner.rows("SELECT 1 FROM mysql.user LIMIT 1")
    assert polling.poll_round(T + 15, connections).answered_count == 1
    sample = Sample.objects.filter(instance_id=instance.pk).latest("at")
    assert sample.selects >= 20 and sample.questions >= sample.selects
    assert sample.pool_read_requests is not None and sample.connections >= 1


def test_the_check_says_that_no_engine_loads_there_and_grants_what_the_line_knows(
    older_mysql: TestServer, owner: Server
) -> None:
    owner.run(f"CREATE USER {ACCOUNT} IDENTIFIED BY 'of-somebody-with-few-rights'")
    instance = managed(older_mysql, username="limited", password="of-somebody-with-few-rights")
    found = list(instance_check(instance)["findings"])
    assert "no_engine_there" in {each.code for each in found}
    lacking = [each for each in found if each.code == "privilege_missing"]
    assert {each.needed.rpartition(", ")[2] for each in lacking} >= {"for monitoring", "for changing parameters"}
    for each in lacking:
        for statement in each.action.statements:
            owner.run(statement)
    assert "privilege_missing" not in {each.code for each in instance_check(instance)["findings"]}
    changed(instance, {"long_query_time": "3"})
    assert float(owner.variable("long_query_time") or 0) == 3
    changed(instance, {"long_query_time": None})


def test_nothing_that_the_server_does_not_know_is_advised_for_its_option_file(older_mysql: TestServer) -> None:
    instance = managed(older_mysql)
    preview = preview_enable(instance, rule="explicit", size_bytes=8 * 1024**2)
    codes = [each.code for each in preview.findings]
    assert "no_engine_there" in codes and "pending_restart" not in codes
    told = [line for each in preview.findings if each.action for line in each.action.statements]
    assert not any("query_cache" in line for line in told)


def test_no_engine_is_recommended_and_no_right_blocks_a_cache_that_can_never_be_on(
    older_mysql: TestServer, owner: Server
) -> None:
    owner.run(f"CREATE USER {ACCOUNT} IDENTIFIED BY 'of-somebody-with-few-rights'")
    instance = managed(older_mysql, username="limited", password="of-somebody-with-few-rights")
    blocking = [each.code for each in instance_check(instance)["findings"] if each.is_blocking]
    assert blocking == ["no_engine_there"]
    advice = cache_advice(instance)
    assert advice["recommendation"]["verdict"] == "no_engine_there"
    assert cache_queries(instance)["reason"] == "privilege_missing"
    assert "upgrade" not in str(advice) and "Install" not in str(advice)
