"""Tests of the figures that a server without the engine has in its performance schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from controlplane.fleet.kept_connections import Connections
from controlplane.gateway.product import MARIADB
from controlplane.gateway.server import Server
from controlplane.prerequisites.digests import Estimate, Verdict, estimate, is_read
from controlplane.prerequisites.status import cache_queries
from controlplane.statements.noting import HOUR, StatementRecorder
from controlplane.statements.selectors import statement_hours
from testing.servers import LINES, TestServer, managed, server_of_line

pytestmark = pytest.mark.django_db
# With these settings every product keeps the history of statements. MariaDB's default for all of them is off.
CONSUMERS = ("events_statements_current", "events_statements_history")
HISTORY = ("performance_schema = ON", *(f"performance_schema_consumer_{name} = ON" for name in CONSUMERS))
T = 1_800_000_000 // HOUR * HOUR
ACCOUNT = "'limited'@'127.0.0.1'"


@pytest.fixture(scope="module", params=[pytest.param(each.values, id=each.id) for each in LINES])
def remembering(request: pytest.FixtureRequest) -> Iterator[TestServer]:
    kind, product = request.param
    with server_of_line(kind, product, HISTORY) as server:
        yield server


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Returns a function that sets the time of the shared clock, in epoch seconds."""
    return lambda now: monkeypatch.setattr("controlplane.core.clock.shared_time", lambda: now)


@pytest.fixture
def application(remembering: TestServer) -> Iterator[Server]:
    server = remembering.connect()
    for table in ("summary_by_digest", "history"):
        server.run(f"TRUNCATE TABLE performance_schema.events_statements_{table}")
    server.run("CREATE DATABASE shop")
    server.run("USE shop")
    server.run("CREATE TABLE things (id INT PRIMARY KEY, name VARCHAR(9))")
    server.run("INSERT INTO things VALUES (1, 'a'), (2, 'b')")
    yield server
    server.run("DROP DATABASE shop")
    server.run(f"DROP USER IF EXISTS {ACCOUNT}")
    server.close()


def row_of(found: dict[str, Any], words: str) -> dict[str, Any]:
    [row] = [row for row in found["items"] if words in row["Query"].lower().replace("`", "")]
    return dict(row)


def test_statements_are_listed_with_the_time_that_the_server_spent_on_them(
    remembering: TestServer, application: Server
) -> None:
    for number in (1, 1, 1, 2):
        application.rows(f"SELECT name FROM things WHERE id = {number}")
    found = cache_queries(managed(remembering))
    assert (found["source"], found["is_available"], found["reason"]) == ("digests", True, "")
    read = row_of(found, "where id = ?")
    assert (read["Executions"], read["Rows_sent"], read["Sampled"], read["Repeated_ratio"]) == ("4", "4", "4", "0.5000")
    assert int(read["Server_time_us"]) >= int(read["Mean_time_us"]) > 0
    written = row_of(found, "insert into things")
    assert (written["Executions"], written["Sampled"], written["Repeated_ratio"]) == ("1", "0", None)
    assert (found["estimate"].sampled, found["estimate"].repeated) == (4, 2)
    assert 0 < found["estimate"].read_time_ratio < 1
    assert found["estimate"].verdict in {Verdict.LITTLE_TIME, Verdict.SMALL_SAMPLE}
    assert not any("performance_schema" in row["Query"] for row in found["items"])


def test_the_account_is_told_the_privilege_that_it_lacks(remembering: TestServer, application: Server) -> None:
    application.run(f"CREATE USER {ACCOUNT} IDENTIFIED BY 'of-somebody-with-few-rights'")
    instance = managed(remembering, username="limited", password="of-somebody-with-few-rights")
    found = cache_queries(instance)
    assert (found["is_available"], found["reason"]) == (False, "privilege_missing")
    application.run(found["note"].rpartition("Run on the server: ")[2])
    assert cache_queries(instance)["is_available"]


def test_a_span_and_its_hours_have_what_was_executed_in_them(
    remembering: TestServer, application: Server, at: Callable[[int], None]
) -> None:
    instance = managed(remembering, minor_version=None)
    connections = Connections()
    noting = StatementRecorder(connections)
    for hour, reads in enumerate((3, 2, 4)):
        at(T + hour * HOUR)
        for number in range(reads):
            application.rows(f"SELECT name FROM things WHERE id = {number}")
        noting.note_if_due(T + hour * HOUR)
    application.rows("SELECT name FROM things WHERE id = 1")
    at(T + 3 * HOUR)
    row = row_of(cache_queries(instance, 1), "where id = ?")
    assert (row["Executions"], row["Rows_sent"]) == ("1", "1")
    assert int(row["Mean_time_us"]) == int(row["Server_time_us"])
    assert row_of(cache_queries(instance, 2), "where id = ?")["Executions"] == "5"
    assert row_of(cache_queries(instance), "where id = ?")["Executions"] == "10"
    hours = statement_hours(instance, row["Digest"])
    assert [each["executions"] for each in hours] == [2, 4] and all(each["server_time_us"] for each in hours)
    connections.keep_only(())


def test_where_the_performance_schema_is_off_its_lines_are_told(own_server: Callable[..., TestServer]) -> None:
    found = cache_queries(managed(own_server(product=MARIADB)))
    assert (found["is_available"], found["reason"], found["estimate"]) == (False, "digests_off", None)
    assert "performance_schema = ON" in found["note"]


def test_nothing_is_estimated_without_statements() -> None:
    assert estimate([], {}) is None


@pytest.mark.parametrize(
    ("text", "reads"),
    [("SELECT 1", True), ("( SELECT 1 )", True), ("WITH x AS ( SELECT 1 )", True), ("INSERT INTO t SELECT 1", False)],
)
def test_reads_are_told_from_other_statements(text: str, reads: bool) -> None:
    assert is_read(text) is reads


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        (Estimate(0.09, 200, 150), Verdict.LITTLE_TIME),
        (Estimate(0.09, 0, 0), Verdict.LITTLE_TIME),
        (Estimate(0.9, 0, 0), Verdict.UNKNOWN),
        (Estimate(0.9, 99, 0), Verdict.SMALL_SAMPLE),
        (Estimate(0.9, 200, 19), Verdict.FEW_REPEAT),
        (Estimate(0.1, 100, 10), Verdict.MAY_PAY),
    ],
)
def test_an_estimate_says_whether_a_near_cache_may_pay(told: Estimate, verdict: Verdict) -> None:
    assert told.verdict is verdict
