"""Reports of the engine, on a server that has just done the reported work."""

import pytest

from controlplane.changes import watch
from controlplane.fleet.kept_connections import Connections
from controlplane.metrics import polling
from testing.changes import changed
from testing.workers import until

pytestmark = pytest.mark.django_db

RULES = '[{"table": "reports.ranking", "cache": "always", "ttl": 30}]'


@pytest.fixture
def client(shared_server):
    """Yields a session of an application, with the table `reports.items` to read from."""
    server = shared_server.connect()
    server.run("CREATE OR REPLACE DATABASE reports")
    server.run("CREATE TABLE reports.items (id INT PRIMARY KEY, name VARCHAR(20))")
    server.run("INSERT INTO reports.items VALUES (1, 'one'), (2, 'two')")
    yield server
    server.run("DROP DATABASE reports")
    server.close()


def report(viewer, instance, name):
    return viewer.get(f"/api/v1/instances/{instance.pk}/cache/{name}").json()


def test_a_table_tells_what_a_write_of_another_row_left_valid(viewer, instance, client, shared_server):
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    session = shared_server.connect()  # the engine follows the session from its first byte on

    def is_served() -> bool:
        before = int(session.status("Qcache_hits")["Qcache_hits"])
        session.rows("SELECT name FROM reports.items WHERE id = 1")
        return int(session.status("Qcache_hits")["Qcache_hits"]) > before

    def of_items(answer):
        [table] = [item for item in answer["items"] if (item["schema"], item["table"]) == ("reports", "items")]
        return table

    def outlives_a_write() -> bool:
        session.run("UPDATE reports.items SET name = 'another' WHERE id = 2")
        return is_served()

    until(is_served, "the read is served from the cache")
    until(outlives_a_write, "the engine tells the rows of the table apart")
    # The rows were written before. That counts if the engine was not suspended.
    written = of_items(report(viewer, instance, "tables"))["writes"]
    session.run("UPDATE reports.items SET name = 'other' WHERE id = 2")
    assert is_served()
    session.close()
    answer = report(viewer, instance, "tables")
    assert answer["is_available"]
    assert "mysql" not in {item["schema"] for item in answer["items"]}
    table = of_items(answer)
    assert (table["entries"], table["writes"] - written, table["invalidations_avoided"]) == (1, 1, 1)
    assert table["reads_cached"] >= 2 and table["stored_bytes"] > 0


def test_the_status_tells_the_rules_and_whether_the_engine_is_awake(viewer, instance, client):
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    client.run("SET GLOBAL fqc_rules = %s", [RULES])
    status = report(viewer, instance, "status")
    client.run("SET GLOBAL fqc_rules = DEFAULT")
    assert status["rules"] == RULES and status["counters"]["Fqc_awake"] == "1"
    assert report(viewer, instance, "status")["rules"] == ""


def test_tables_of_the_sequence_engine_are_not_listed_and_get_no_advice(viewer, instance, client, shared_server):
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    client.run("SET GLOBAL userstat = ON")
    session = shared_server.connect()
    session.rows("SELECT COUNT(*) FROM reports.items")
    session.rows("SELECT COUNT(*) FROM reports.seq_1_to_500")
    session.close()
    for found in (report(viewer, instance, "tables")["items"], report(viewer, instance, "advice")["tables"]):
        assert {table["table"] for table in found if table["schema"] == "reports"} == {"items"}


def test_a_rule_without_limits_is_advised_against_and_its_action_mends_it(viewer, instance, client):
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    client.run("SET GLOBAL fqc_rules = %s", ['[{"schema": "%", "cache": "always", "ttl": 30}]'])
    try:
        found = viewer.get(f"/api/v1/instances/{instance.pk}/prerequisites").json()["findings"]
        [finding] = [each for each in found if each["code"] == "stale_reads"]
        assert finding["severity"] == "advice" and "all tables may be 30 s old" in finding["seen"]
        assert finding["action"]["route"] == "changes"
        changed(instance, finding["action"]["body"]["parameters"])
        found = viewer.get(f"/api/v1/instances/{instance.pk}/prerequisites").json()["findings"]
        assert "stale_reads" not in [each["code"] for each in found]
    finally:
        client.run("SET GLOBAL fqc_rules = DEFAULT")


def test_connections_from_before_the_cache_was_on_are_told_and_our_own_do_not_count(viewer, instance, shared_server):
    old = [shared_server.connect() for _ in range(2)]
    for each in old:
        each.rows("SELECT * FROM information_schema.SCHEMATA")  # causes work while the cache is off
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    new = shared_server.connect()

    def connections():
        return report(viewer, instance, "status")["connections"]

    until(lambda: connections() == {"served": 1, "all": 3}, "the old ones are not served")
    for each in old:
        each.close()
    until(lambda: connections() == {"served": 1, "all": 1}, "the old ones have left")
    new.close()


def test_what_the_control_plane_reads_is_not_in_the_figures_of_the_cache(viewer, instance, client):
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})

    def counted():
        status = client.status("Qcache%")
        return {name: status[name] for name in ("Qcache_hits", "Qcache_inserts", "Qcache_not_cached")}

    before = counted()
    for name in ("status", "queries", "tables", "advice", "status"):
        report(viewer, instance, name)
    assert counted() == before


@pytest.mark.parametrize("observe", ["0", "1"])
def test_what_the_control_plane_asks_is_in_no_report(operator, instance, client, observe):
    """The engine's reports contain nothing that the control plane reads or changes; of a trial, they contain only the
    tried statement.
    """
    wanted = {"query_cache_size": "1048576", "query_cache_type": "1" if observe == "0" else "0", "fqc_observe": observe}
    changed(instance, wanted)
    client.stay_uncounted()
    client.run("FLUSH STATUS")
    changed(instance, {"long_query_time": "3", "max_connections": "140"})
    connections = Connections()
    polling.poll_round(1_800_000_000, connections)
    watch.watch(connections)
    connections.keep_only(())
    address = f"/api/v1/instances/{instance.pk}"
    for path in ("prerequisites", "near-caches/prerequisites", "parameters", "cache/status", "cache/advice"):
        assert operator.get(f"{address}/{path}").status_code == 200
    preview = {"instance": instance.pk, "parameters": {"long_query_time": "2"}}
    assert operator.post("/api/v1/changes/preview", preview).status_code == 200
    counters = client.status("Qcache%") | client.status("Fqc_observed%")
    assert [counters[name] for name in ("Qcache_not_cached", "Qcache_inserts", "Fqc_observed_requests")] == ["0"] * 3
    assert report(operator, instance, "queries")["items"] == []

    trial = {"statement": "SELECT name FROM items WHERE id = 1", "database": "reports", "repetitions": 5}
    assert operator.post(f"{address}/cache/trial", trial).status_code == 200
    queries = report(operator, instance, "queries")["items"]
    assert [row["Query"] for row in queries] == ["SELECT name FROM items WHERE id = ?"]
