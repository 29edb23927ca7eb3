import pytest

from testing.changes import changed
from testing.workers import until

pytestmark = pytest.mark.django_db


@pytest.fixture
def table(shared_server):
    server = shared_server.connect()
    server.run("CREATE OR REPLACE DATABASE trial")
    server.run("CREATE TABLE trial.items (id INT PRIMARY KEY, name VARCHAR(20))")
    server.run("INSERT INTO trial.items VALUES (1, 'one'), (2, 'two')")
    yield
    server.run("DROP DATABASE trial")
    server.close()


def try_out(client, instance, **body):
    return client.post(f"/api/v1/instances/{instance.pk}/cache/trial", {"database": "trial", **body})


def test_a_trial_counts_hits_of_its_own_session_while_the_cache_is_off_for_all(
    operator, instance, table, shared_server
):
    changed(instance, {"query_cache_size": "1048576"})
    found = try_out(operator, instance, statement="SELECT * FROM items WHERE id = 1", repetitions=10).json()
    assert (found["hits"], found["inserts"]) == (10, 0)
    assert found["cached"]["median_microseconds"] > 0 and found["uncached"]["median_microseconds"] > 0
    server = shared_server.connect()
    assert server.variable("query_cache_type") in ("0", "OFF")
    server.close()


def test_without_memory_the_trial_says_what_to_do(operator, instance, table):
    found = try_out(operator, instance, statement="SELECT * FROM items", repetitions=3).json()
    assert found["hits"] == 0 and "query_cache_size is 0" in found["detail"]


@pytest.mark.parametrize(
    "statement", ["DELETE FROM items", "SET GLOBAL query_cache_size = 0", "INSERT INTO items VALUES (3, 'x')"]
)
def test_only_reads_are_tried(operator, instance, table, statement):
    answer = try_out(operator, instance, statement=statement)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "statement")


def test_a_read_that_writes_is_refused_by_the_server(operator, instance, table, shared_server):
    server = shared_server.connect()
    server.run("CREATE FUNCTION trial.f() RETURNS INT BEGIN DELETE FROM trial.items; RETURN 1; END")
    answer = try_out(operator, instance, statement="SELECT f()")
    assert (answer.status_code, answer.json()["code"]) == (422, "server_refused")
    assert server.value("SELECT COUNT(*) FROM trial.items") == 2
    server.close()


def test_status_tells_what_every_tool_looks_for(viewer, instance, table):
    status = viewer.get(f"/api/v1/instances/{instance.pk}/cache/status").json()
    assert status["has_engine"] and status["minor_version"] >= 20200331
    assert {"Qcache_hits", "Qcache_inserts", "Qcache_lowmem_prunes", "Qcache_not_cached"} <= status["counters"].keys()


def test_advice_names_a_size_by_every_rule(viewer, instance):
    sizes = viewer.get(f"/api/v1/instances/{instance.pk}/cache/advice").json()["sizes"]
    by_rule = {size["rule"]: size["size_bytes"] for size in sizes}
    assert by_rule["buffer_pool"] == 268435456 // 10 // 1024 * 1024
    assert by_rule.keys() == {"buffer_pool", "result_set", "curve"}


def test_a_statement_that_takes_too_long_ends_on_the_server_too(operator, instance, table, shared_server, settings):
    settings.STATEMENT_TIMEOUT_SECONDS = 3
    answer = try_out(operator, instance, statement="SELECT SLEEP(1000)", repetitions=2)
    assert answer.status_code in (422, 503)  # which says so first, the server or its silence, is a matter of load
    server = shared_server.connect()
    at_work = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO = 'SELECT SLEEP(1000)'"
    until(lambda: server.value(at_work) == 0, "the statement has ended")
    server.close()
