"""A real MySQL server: parameters, drift, restarts, metrics, checks and templates, for every role."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from controlplane.catalogue.models import EngineLine
from controlplane.changes.models import ChangeSet
from controlplane.changes.steps import Run, do_step, undo_step
from controlplane.changes.watch import watch
from controlplane.core.ids import new_id
from controlplane.fleet.connection import connected
from controlplane.fleet.kept_connections import Connections
from controlplane.fleet.local import local_server
from controlplane.fleet.models import Instance
from controlplane.gateway.errors import Unreachable
from controlplane.gateway.product import MYSQL
from controlplane.gateway.tests.test_tls import certified
from controlplane.metrics import polling
from controlplane.metrics.models import Sample
from controlplane.prerequisites.check import instance_check
from testing.changes import asked, changed, run, steps
from testing.servers import TestServer, mysqld, row_for
from testing.workers import until

pytestmark = pytest.mark.django_db
KEEPING = {"innodb_buffer_pool_size": "134217728", "persisted_globals_load": "ON"}
T = 1_800_000_000


def external(server: TestServer, **facts: Any) -> Any:
    """Stores the server as an external instance, that is, as a user's own, with an account that has all privileges.

    `facts` override columns.
    """
    who = server.everything
    usual = {"username": who.username, "password": who.password, "public_key": who.public_key}
    return row_for(server, provider="external", **{**usual, **facts})


@pytest.fixture
def mysql(own_server: Any) -> TestServer:
    made: TestServer = own_server(product=MYSQL, configured=KEEPING)
    return made


@pytest.fixture
def connections() -> Any:
    kept = Connections()
    yield kept
    kept.keep_only(())


def running(server: TestServer, name: str) -> str | None:
    connection = server.connect()
    found = connection.variable(name)
    connection.close()
    return found


def test_what_is_set_on_a_server_that_keeps_it_survives_a_restart_until_it_is_reset(mysql: TestServer) -> None:
    instance = external(mysql)
    change = changed(instance, {"sort_buffer_size": "524288", "long_query_time": "3"})
    assert {each[:2] for each in steps(change)} == {
        (kind, name) for kind in ("set_global", "persist") for name in ("sort_buffer_size", "long_query_time")
    }
    assert [each[0] for each in steps(change)] == ["set_global", "set_global", "persist", "persist"]
    mysql.restart()
    assert running(mysql, "sort_buffer_size") == "524288"
    changed(instance, {"sort_buffer_size": None})
    mysql.restart()
    assert running(mysql, "sort_buffer_size") == "262144"
    assert float(running(mysql, "long_query_time") or 0) == 3


def test_what_takes_a_restart_is_kept_for_it_and_noticed_after_it(mysql: TestServer, connections: Connections) -> None:
    instance = external(mysql)
    change = asked(instance, {"back_log": "123"})
    assert [(step.kind, step.name) for step in change.steps.all()] == [("persist", "back_log")]
    assert run(change).state == "applied"
    row = instance.parameters.get(name="back_log")
    assert row.is_pending_restart and not row.is_drifted
    mysql.restart()
    watch(connections)
    row.refresh_from_db()
    assert (row.running, row.is_pending_restart, row.is_drifted) == ("123", False, False)


def test_an_account_that_may_not_keep_what_takes_a_restart_is_told_what_to_write(mysql: TestServer) -> None:
    server = mysql.connect()
    server.run("CREATE USER plain@'127.0.0.1' IDENTIFIED BY 'plain'")
    server.run("GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO plain@'127.0.0.1'")
    server.close()
    instance = external(mysql, username="plain", password="plain")
    change = changed(instance, {"back_log": "123", "sort_buffer_size": "524288"})
    assert [each[:2] for each in steps(change)] == [("set_global", "sort_buffer_size"), ("persist", "sort_buffer_size")]
    assert any(finding["code"] == "pending_restart" and "back_log = 123" in str(finding) for finding in change.findings)


def test_what_is_taken_back_leaves_what_somebody_else_had_kept(mysql: TestServer) -> None:
    server = mysql.connect()
    server.run("SET PERSIST max_connections = 120")
    instance = external(mysql)
    work = Run(asked(instance, {"max_connections": "130", "table_open_cache": "500"}), lambda: None)
    planned = list(work.change.steps.all())
    for step in planned:
        do_step(work, step)
    assert (server.kept("max_connections"), server.kept("table_open_cache")) == ("130", "500")
    for step in reversed(planned):
        undo_step(work, step)
    work.close()
    assert (server.kept("max_connections"), server.kept("table_open_cache")) == ("120", None)
    assert server.variable("max_connections") == "120"
    server.close()


def test_drift_is_seen_and_a_local_server_gets_again_what_was_configured(
    shared_mysql: TestServer, connections: Connections
) -> None:
    instance = row_for(shared_mysql)
    change = changed(instance, {"sort_buffer_size": "{DBInstanceClassMemory/1024}"})
    assert [each[0] for each in steps(change)] == ["set_global", "write_configuration"]
    server = shared_mysql.connect()
    server.set_global("sort_buffer_size", 300000)
    watch(connections)
    assert instance.parameters.get(name="sort_buffer_size").is_drifted
    changed(instance, {"sort_buffer_size": None})
    assert server.variable("sort_buffer_size") == "262144"
    server.close()


def test_what_the_server_rounds_is_neither_refused_nor_drift(mysql: TestServer, connections: Connections) -> None:
    instance = external(mysql)
    server = mysql.connect()
    odd = {
        name: str(int(server.variable(name) or 0) * 3 + 4097)
        for name in ("read_buffer_size", "join_buffer_size", "max_allowed_packet", "select_into_buffer_size")
    }
    server.close()
    changed(instance, {**odd, "innodb_buffer_pool_size": "{DBInstanceClassMemory*2/10}"})
    watch(connections)
    assert [row.name for row in instance.parameters.all() if row.running == row.resolved] == []
    assert [row.name for row in instance.parameters.all() if row.is_drifted] == []


def test_a_value_that_is_no_choice_is_refused_before_it_is_sent(shared_mysql: TestServer, operator: Any) -> None:
    instance = row_for(shared_mysql)
    body = {"parameters": {"internal_tmp_mem_storage_engine": "InnoDB"}}
    answer = operator.post(f"/api/v1/instances/{instance.pk}/changes", body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "internal_tmp_mem_storage_engine"


@pytest.mark.parametrize(
    ("who", "name", "value", "status"),
    [
        ("viewer", "sort_buffer_size", "524288", 403),
        ("operator", "sort_buffer_size", "524288", 201),
        ("operator", "event_scheduler", "OFF", 422),
        ("admin", "event_scheduler", "OFF", 201),
        ("admin", "activate_mandatory_roles", "OFF", 422),
    ],
)
def test_who_may_set_what(
    shared_mysql: TestServer, request: pytest.FixtureRequest, who: str, name: str, value: str, status: int
) -> None:
    instance, client = row_for(shared_mysql), request.getfixturevalue(who)
    answer = client.post(f"/api/v1/instances/{instance.pk}/changes", {"parameters": {name: value}, "apply": False})
    assert answer.status_code == status, answer.json()


def test_who_switches_the_cache_on_without_an_engine_is_told_of_the_engine(
    shared_mysql: TestServer, operator: Any
) -> None:
    instance = row_for(shared_mysql)
    on = {"parameters": {"query_cache_size": "8388608", "query_cache_type": "1"}, "apply": True}
    refused = operator.post(f"/api/v1/instances/{instance.pk}/changes", on)
    assert (refused.status_code, refused.json()["code"]) == (422, "minor_version")
    assert [each["code"] for each in refused.json()["errors"]] == ["minor_version"]


def library(content: bytes) -> Path:
    made = settings.RUN_DIR / f"{new_id('engine')}.so"
    made.write_bytes(content)
    return made


def test_counters_are_read_by_mysqls_names(shared_mysql: TestServer, connections: Connections) -> None:
    instance = row_for(shared_mysql)
    polling.poll_round(T, connections)
    server = shared_mysql.connect()
    for _ in range(20):
        server.rows("SELECT 1 FROM mysql.user LIMIT 1")
    server.close()
    assert polling.poll_round(T + 15, connections).answered_count == 1
    sample = Sample.objects.filter(instance_id=instance.pk).latest("at")
    assert sample.selects >= 20 and sample.questions >= sample.selects
    assert sample.pool_read_requests is not None and sample.connections >= 1
    assert sample.pool_size_bytes == 268435456
    assert (sample.hits, sample.lookups, sample.cache_size_bytes) == (0, 0, None)


def test_the_check_says_that_no_engine_loads_there_and_what_works_instead(
    shared_mysql: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "ENGINE_LIBRARY", library(b"of another product"))
    found = {each.code: each for each in instance_check(row_for(shared_mysql))["findings"]}
    assert found["no_engine_there"].is_blocking and "metrics" in found["no_engine_there"].remedy


def test_a_template_of_its_line_is_applied_and_names_what_the_line_has_not(
    shared_mysql: TestServer, operator: Any
) -> None:
    instance = row_for(shared_mysql)
    line = EngineLine.objects.get(product="MySQL").pk
    body = {"name": "mine", "engine_line": line, "values": {"long_query_time": "2"}}
    made = operator.post("/api/v1/templates", body)
    assert made.status_code == 201, made.json()
    refused = operator.post("/api/v1/templates", {**body, "name": "x", "values": {"userstat": "ON"}})
    assert refused.status_code in (400, 422) and "userstat" in str(refused.json())
    answer = operator.post(f"/api/v1/instances/{instance.pk}/changes", {"template": made.json()["id"], "apply": True})
    assert answer.status_code in (201, 202), answer.json()
    change = run(ChangeSet.objects.get(pk=answer.json()["id"]))
    assert (change.state, change.lines.get().name) == ("applied", "long_query_time")
    assert float(running(shared_mysql, "long_query_time") or 0) == 2
    changed(instance, {"long_query_time": None})


def test_a_local_one_is_made_by_the_api_and_without_an_engine_that_does_not_load_there(operator: Any) -> None:
    mysqld()
    body = {"name": "shop-mysql", "provider": "local", "product": "MySQL", "instance_class": "local.medium"}
    answer = operator.post("/api/v1/instances", body)
    assert answer.status_code == 202, answer.json()
    instance = Instance.objects.get(name="shop-mysql")
    try:
        kinds = [step[0] for step in steps(instance.changes.get())]
        assert ("install_engine" in kinds) is instance.takes_engine
        made = run(instance.changes.get())
        assert made.state == "applied", made.outcome_detail
        shown = operator.get(f"/api/v1/instances/{instance.pk}").json()
        assert (shown["state"], shown["product"], shown["has_engine"]) == ("running", "MySQL", instance.takes_engine)
        pool = instance.parameters.get(name="innodb_buffer_pool_size")
        assert pool.running != pool.resolved and not pool.is_drifted
        if not instance.takes_engine:
            refused = operator.post(f"/api/v1/instances/{instance.pk}/upgrade", {})
            assert (refused.status_code, refused.json()["code"]) == (409, "no_engine_there")
    finally:
        local_server(instance).remove()


def test_a_server_that_the_engine_refuses_is_made_without_it(operator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mysqld()
    monkeypatch.setattr(settings, "ENGINE_LIBRARY", library(MYSQL.engine_symbol))
    body = {"name": "refusing", "provider": "local", "product": "MySQL", "instance_class": "local.medium"}
    assert operator.post("/api/v1/instances", body).status_code == 202
    instance = Instance.objects.get(name="refusing")
    try:
        made = run(instance.changes.get())
        assert (made.state, "install_engine" in [each[0] for each in steps(made)]) == ("applied", True)
        assert operator.get(f"/api/v1/instances/{instance.pk}").json()["has_engine"] is False
    finally:
        local_server(instance).remove()


@contextmanager
def made_by_the_api(operator: Any, name: str) -> Iterator[Instance]:
    mysqld()
    body = {"name": name, "provider": "local", "product": "MySQL", "instance_class": "local.medium"}
    assert operator.post("/api/v1/instances", body).status_code == 202
    instance = Instance.objects.get(name=name)
    try:
        made = run(instance.changes.get())
        assert made.state == "applied", made.outcome_detail
        instance.refresh_from_db()
        yield instance
    finally:
        local_server(instance).remove()


def told_by(instance: Instance, is_told: Callable[[str], bool]) -> str:
    """Waits until the obstacle that the engine on this server reports satisfies `is_told`, and returns it."""
    with connected(instance) as server:
        until(lambda: is_told(server.status("Fqc_obstacle")["Fqc_obstacle"]), "the engine says what is in its way")
        return server.status("Fqc_obstacle")["Fqc_obstacle"]


def enabled(client: Any, instance: Instance) -> Any:
    return client.post(f"/api/v1/instances/{instance.pk}/cache/enable", {"apply": True})


def test_an_engine_that_serves_nothing_is_not_switched_on_says_why_and_is_mended_by_an_upgrade(operator: Any) -> None:
    with made_by_the_api(operator, "idle") as instance:
        with local_server(instance).as_owner() as owner, owner.cursor() as cursor:
            cursor.execute("UNINSTALL PLUGIN fqc_events")
        why = told_by(instance, bool)
        refused = enabled(operator, instance)
        assert refused.status_code == 422, refused.json()
        assert refused.json()["code"] == "engine_idle" and why in refused.json()["detail"]
        shown = operator.get(f"/api/v1/instances/{instance.pk}").json()
        assert (shown["has_engine"], shown["engine_obstacle"]) == (True, why)
        assert operator.get(f"/api/v1/instances/{instance.pk}/cache/status").json()["engine_obstacle"] == why
        answer = operator.post(f"/api/v1/instances/{instance.pk}/upgrade", {"apply": True})
        change = run(ChangeSet.objects.get(pk=answer.json()["id"]))
        assert [each[0] for each in steps(change)] == ["install_engine", "restart"]
        assert change.state == "applied", change.outcome_detail
        with local_server(instance).as_owner() as owner, owner.cursor() as cursor:
            cursor.execute("SELECT PLUGIN_STATUS FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'fqc_events'")
            assert cursor.fetchall() == (("ACTIVE",),)


def test_the_cache_is_enabled_on_a_mysql_server_and_hits_are_counted(operator: Any) -> None:
    with made_by_the_api(operator, "serving") as instance:
        assert told_by(instance, lambda words: not words) == ""
        change = enabled(operator, instance)
        assert change.status_code in (201, 202), change.json()
        ended = run(ChangeSet.objects.get(pk=change.json()["id"]))
        assert ended.state == "applied", ended.outcome_detail
        server = local_server(instance)
        with server.as_owner() as owner, owner.cursor() as cursor:
            cursor.execute("CREATE DATABASE shop")
            cursor.execute("CREATE TABLE shop.t (id INT PRIMARY KEY)")
            before = int(status_of(cursor, "Qcache_hits"))

            def has_hit() -> bool:
                cursor.execute("SELECT id FROM shop.t WHERE id = 1")
                cursor.fetchall()
                return int(status_of(cursor, "Qcache_hits")) > before

            until(has_hit, "a read is served from the cache")
        assert operator.get(f"/api/v1/instances/{instance.pk}/cache/status").json()["is_enabled"] is True


def status_of(cursor: Any, name: str) -> str:
    cursor.execute("SHOW GLOBAL STATUS LIKE %s", (name,))
    return str(cursor.fetchall()[0][1])


def test_an_account_of_caching_sha2_is_managed_over_tls_without_a_key(
    own_server: Any, tmp_path: Path, connections: Connections
) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir()
    other.mkdir()
    certified(other)
    server = own_server(product=MYSQL, configured={"innodb_buffer_pool_size": "134217728", **certified(own)})
    instance = external(server, is_tls_required=True, public_key="", tls_ca=(other / "certificate").read_text())
    server.restart()  # the server has forgotten the account's hash, so it asks for the password itself
    with pytest.raises(Unreachable, match="certificate"), connected(instance):
        pass
    instance.tls_ca = (own / "certificate").read_text()
    instance.save()
    changed(instance, {"sort_buffer_size": "524288"})
    watch(connections)
    assert instance.parameters.get(name="sort_buffer_size").running == "524288"
