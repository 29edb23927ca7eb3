"""The counts of a real server, stored hourly and reported by period."""

import pytest

from controlplane.fleet.kept_connections import Connections
from controlplane.statements.models import StatementNote
from controlplane.statements.noting import HOUR, KEPT_SECONDS, StatementRecorder
from testing.changes import changed
from testing.workers import until

pytestmark = pytest.mark.django_db
T = 1_800_000_000 // HOUR * HOUR
READ = "SELECT name FROM noting.items WHERE id = 1"


@pytest.fixture
def noting(instance):
    """Switches the instance's cache on and yields a `StatementRecorder` with connections of its own."""
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    connections = Connections()
    yield StatementRecorder(connections)
    connections.keep_only(())


def counted(server):
    server.rows("SELECT 1 FROM noting.items WHERE id = 1")
    return any(row[1].startswith("SELECT ? FROM noting") for row in server.rows("SHOW FQC QUERIES"))


@pytest.fixture
def reads(shared_server, noting):
    admin = shared_server.connect()
    admin.run("CREATE OR REPLACE DATABASE noting")
    admin.run("CREATE TABLE noting.items (id INT PRIMARY KEY, name VARCHAR(20))")
    # The engine counts the statements of connections that it has followed from their start.
    servers = [shared_server.connect()]

    def is_followed():
        if not (is_counted := counted(servers[-1])):
            servers.append(shared_server.connect())
        return is_counted

    until(is_followed, "a connection whose statements are counted")
    server = servers[-1]
    server.run("FLUSH STATUS")

    def run(times):
        for _ in range(times):
            server.rows(READ)

    yield run
    admin.run("DROP DATABASE noting")
    for each in [admin, *servers]:
        each.close()


@pytest.fixture
def at(monkeypatch):
    """Returns a function that sets the time of the shared clock, in epoch seconds."""
    return lambda now: monkeypatch.setattr("controlplane.core.clock.shared_time", lambda: now)


def told(viewer, instance, hours):
    found = viewer.get(f"/api/v1/instances/{instance.pk}/cache/queries", {"hours": hours}).json()
    executions = [int(row["Executions"]) for row in found["items"] if row["Query"].startswith("SELECT name")]
    return found["since"], executions


def test_a_span_tells_what_was_executed_in_it(viewer, instance, noting, reads, at):
    at(T)
    reads(5)
    assert told(viewer, instance, 1) == (None, [5])
    noting.note_if_due(T)
    reads(3)
    at(T + 2 * HOUR)
    noting.note_if_due(T + 2 * HOUR)
    reads(2)
    at(T + 3 * HOUR)
    assert told(viewer, instance, 0) == (None, [10])
    assert told(viewer, instance, 1) == ("2027-01-15T10:00:00Z", [2])
    assert told(viewer, instance, 24) == ("2027-01-15T08:00:00Z", [5])


def test_each_hour_is_noted_once_and_old_notes_go(instance, noting, reads):
    for at in (T, T + 60, T + HOUR):
        noting.note_if_due(at)
    assert list(StatementNote.objects.order_by("at").values_list("at", flat=True)) == [T, T + HOUR]
    # Stands for another process, as after a restart.
    StatementRecorder(noting._connections).note_if_due(T + HOUR + 60)
    assert StatementNote.objects.count() == 2
    noting.note_if_due(T + KEPT_SECONDS + HOUR)
    assert not StatementNote.objects.filter(at=T).exists()


def test_a_server_that_does_not_answer_leaves_no_note_and_spoils_no_other(instance, noting, reads):
    instance.pk, instance.name, instance.port = "rm-gone", "gone", 1
    instance.save(force_insert=True)
    noting.note_if_due(T)
    assert StatementNote.objects.count() == 1
