import hashlib
import re
import threading

import pytest

from controlplane.audit.models import AuditEvent
from testing.changes import changed
from testing.workers import until

pytestmark = pytest.mark.django_db
# Variables that change by themselves.
CLOCKS = {"timestamp", "last_gtid", "gtid_current_pos", "rand_seed1", "rand_seed2", "pseudo_thread_id"}


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


def is_served(found, repetitions):
    """Returns whether every repetition of a trial was a hit or stored its result, and most were hits: a stored result
    may be evicted or invalidated in between, which is not a fault.
    """
    return found["hits"] + found["inserts"] == repetitions and found["hits"] > repetitions // 2


def test_a_trial_shows_hits_while_the_cache_is_off_and_has_no_memory_and_changes_nothing_global(
    operator, instance, table, shared_server
):
    server = shared_server.connect()
    before = server.variables()
    assert (before["query_cache_size"], before["query_cache_type"]) == ("0", "OFF")
    found = try_out(operator, instance, statement="SELECT * FROM items WHERE id = 1", repetitions=10).json()
    assert is_served(found, 10), f"{found}"
    assert (found["is_counting_shared"], found["is_memory_lent"], found["reason"]) == (False, True, "")
    assert found["cached"]["median_microseconds"] > 0 and found["uncached"]["median_microseconds"] > 0
    after = server.variables()
    assert {name for name in before if before[name] != after[name]} <= CLOCKS
    until(lambda: server.status("Fqc_bytes_used")["Fqc_bytes_used"] == "0", "the memory is given back")
    server.close()


def test_hits_of_other_sessions_are_not_taken_for_those_of_the_trial(operator, instance, table, shared_server):
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    is_over = threading.Event()
    began = threading.Event()

    def hit() -> None:
        other = shared_server.connect()
        while not is_over.is_set():
            other.rows("SELECT * FROM trial.items WHERE id = 1")
            began.set()
        other.close()

    busy = threading.Thread(target=hit)
    busy.start()
    try:
        assert began.wait(60)
        # The result of RAND() cannot be cached, so any reported hit would belong to another session.
        found = try_out(operator, instance, statement="SELECT RAND() FROM items", repetitions=50).json()
        served = try_out(operator, instance, statement="SELECT * FROM items WHERE id = 2", repetitions=50).json()
    finally:
        is_over.set()
        busy.join()
    assert (found["hits"], found["inserts"], found["not_cached"]) == (0, 0, 50)
    assert is_served(served, 50), f"{served}"
    assert (served["is_counting_shared"], served["is_memory_lent"]) == (False, False)


def test_who_tried_what_is_on_record_also_if_the_server_refuses_it(operator, instance, table):
    try_out(operator, instance, statement="SELECT nothing FROM nowhere")
    [event] = AuditEvent.objects.filter(action="instance.cache_tried")
    assert (event.actor_id, event.target_id) == (operator.user.pk, instance.pk)
    assert event.after == {"statement": "SELECT nothing FROM nowhere", "database": "trial"}


def test_a_trial_says_why_a_statement_is_not_cached(operator, instance, table):
    found = try_out(operator, instance, statement="SELECT SQL_NO_CACHE * FROM items", repetitions=3).json()
    assert (found["hits"], found["not_cached"], found["reason"]) == (0, 3, "sql_no_cache")
    assert "SQL_NO_CACHE" in found["detail"]
    found = try_out(operator, instance, statement="SELECT 1", repetitions=2).json()
    assert found["detail"] == "The engine does not cache this statement: It reads no table."


@pytest.mark.parametrize(
    "statement", ["DELETE FROM items", "SET GLOBAL query_cache_size = 0", "INSERT INTO items VALUES (3, 'x')"]
)
def test_only_reads_are_tried(operator, instance, table, statement):
    answer = try_out(operator, instance, statement=statement)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "statement")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1 INTO OUTFILE '{}'",
        "SELECT 1 into/**/dumpfile '{}'",
        "SELECT /*! 1 INTO OUTFILE '{}' */",
        "WITH a AS (SELECT 1) SELECT * FROM a INTO OUTFILE '{}'",
    ],
)
def test_a_read_that_writes_a_file_is_not_tried(operator, instance, table, tmp_path, statement):
    answer = try_out(operator, instance, statement=statement.format(tmp_path / "written"))
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "statement")
    assert not (tmp_path / "written").exists()
    assert not AuditEvent.objects.filter(action="instance.cache_tried").exists()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT LOAD_FILE('/etc/hostname')",
        "SELECT load_file /**/ ('/etc/hostname')",
        "SELECT 1 /*! , LOAD_FILE */ ('/etc/hostname')",
        "SELECT 1 /*M!100000 , `load_file`('/etc/hostname') */",
        "SELECT SLEEP(1)",
        "SELECT BENCHMARK(1000, MD5('x'))",
        "SELECT GET_LOCK('x', 1)",
        "SELECT sleep -- so\n (1)",
        "SELECT * FROM items FOR UPDATE",
        "SELECT * FROM items LOCK IN SHARE MODE",
    ],
)
def test_a_read_that_reads_files_waits_or_locks_is_not_tried(operator, instance, statement):
    answer = try_out(operator, instance, statement=statement)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "statement")


def test_a_column_may_be_called_like_a_function_that_is_not_tried(operator, instance, table, shared_server):
    server = shared_server.connect()
    server.run("CREATE TABLE trial.nights (sleep INT PRIMARY KEY)")
    server.close()
    assert try_out(operator, instance, statement="SELECT sleep FROM nights", repetitions=2).status_code == 200


LEAKS = [
    "SELECT EXTRACTVALUE(1, CONCAT(0x7e, (SELECT name FROM items WHERE id = 1)))",
    "SELECT UPDATEXML(1, CONCAT(0x7e, (SELECT name FROM items WHERE id = 1)), 1)",
    "SELECT EXP(710 + (SELECT LENGTH(name) FROM items WHERE id = 1))",
    "SELECT 1 FROM items GROUP BY CONCAT((SELECT name FROM items WHERE id = 1), FLOOR(RAND(0) * 2)) HAVING MIN(0)",
    "SELECT ST_GeomFromText((SELECT name FROM items WHERE id = 1))",
    "SELECT GTID_SUBSET((SELECT name FROM items WHERE id = 1), 1)",
    "SELECT JSON_KEYS((SELECT CONVERT((SELECT name FROM items WHERE id = 1) USING utf8mb4)))",
]


@pytest.mark.parametrize("statement", LEAKS)
def test_what_the_server_says_of_a_failure_never_reaches_who_tries(operator, instance, table, shared_server, statement):
    server = shared_server.connect()
    server.run("UPDATE trial.items SET name = 'a-kept-secret' WHERE id = 1")
    server.close()
    answer = try_out(operator, instance, statement=statement, repetitions=2)
    assert "secret" not in answer.content.decode()
    if answer.status_code != 200:
        assert re.fullmatch(
            r"127\.0\.0\.1:\d+ refused the statement with error \d+: [A-Za-z ';:,]+\.", answer.json()["detail"]
        )


@pytest.mark.parametrize(
    ("statement", "number", "meaning"),
    [
        ("SELECT * FROM nowhere", 1146, "there is no such table"),
        ("SELECT nothing FROM items", 1054, "there is no such column"),
        ("SELECT FROM WHERE", 1064, "a syntax error"),
        ("SELECT (SELECT id FROM items)", 1242, "a subquery returns more than one row"),
    ],
)
def test_a_failure_is_explained_by_its_number(operator, instance, table, statement, number, meaning):
    answer = try_out(operator, instance, statement=statement)
    assert (answer.status_code, answer.json()["code"]) == (422, "server_refused")
    assert answer.json()["detail"].endswith(f"with error {number}: {meaning}.")


def test_a_database_that_is_not_there_is_told_without_the_servers_words(operator, instance):
    answer = try_out(operator, instance, statement="SELECT 1", database="nowhere")
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith("with error 1049: there is no such database.")


def test_the_audit_of_a_long_statement_keeps_its_beginning_its_length_and_its_hash(operator, instance, table):
    statement = f"SELECT * FROM items WHERE name <> '{'x' * 5000}'"
    try_out(operator, instance, statement=statement, repetitions=2)
    [event] = AuditEvent.objects.filter(action="instance.cache_tried")
    assert event.after == {
        "statement": statement[:4000],
        "database": "trial",
        "statement_characters": len(statement),
        "statement_sha256": hashlib.sha256(statement.encode()).hexdigest(),
    }


def test_the_audit_keeps_a_usual_statement_whole(operator, instance, table):
    statement = f"SELECT * FROM items WHERE name <> '{'x' * 3000}'"
    try_out(operator, instance, statement=statement, repetitions=2)
    assert AuditEvent.objects.get(action="instance.cache_tried").after["statement"] == statement


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
    statement = "SELECT COUNT(*) FROM seq_1_to_1000000 AS a, seq_1_to_1000000 AS b WHERE a.seq + b.seq < 0"
    answer = try_out(operator, instance, statement=statement, repetitions=2)
    assert answer.status_code in (422, 503)  # which says so first, the server or its silence, is a matter of load
    server = shared_server.connect()
    at_work = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT COUNT(*) FROM seq%'"
    until(lambda: server.value(at_work) == 0, "the statement has ended")
    server.close()


def test_what_answers_more_than_a_trial_reads_is_refused_by_name(operator, instance, table):
    answer = try_out(operator, instance, statement="SELECT REPEAT('x', 7000000) FROM seq_1_to_10", repetitions=3)
    assert (answer.status_code, answer.json()["code"]) == (422, "answer_too_long")
    assert "64 MiB" in answer.json()["detail"] and "LIMIT" in answer.json()["detail"]
