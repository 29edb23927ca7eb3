from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.changes import services
from controlplane.changes import watch as watching
from controlplane.changes.watch import watch, watch_silent
from controlplane.core.models import Event
from controlplane.fleet.kept_connections import Connections
from controlplane.fleet.models import Instance
from controlplane.gateway.tests.hostile import hostile, tells
from controlplane.metrics.tests.fleet import instance_make
from controlplane.prerequisites.check import instance_check
from testing.changes import asked, changed, run
from testing.servers import row_for
from testing.workers import until

pytestmark = pytest.mark.django_db


@pytest.fixture
def connections():
    kept = Connections()
    yield kept
    kept.keep_only(())


class Late(Connections):
    """Connections that call a function after the servers were asked and before their answers are used, as if something
    had happened in between.
    """

    def __init__(self, meanwhile):
        super().__init__()
        self.meanwhile = meanwhile

    def ask_all(self, *arguments):
        found = super().ask_all(*arguments)
        self.meanwhile()
        return found


def test_a_value_that_somebody_set_by_hand_is_drift_and_stays_theirs(instance, shared_server, connections):
    changed(instance, {"long_query_time": "2"})
    server = shared_server.connect()
    server.set_global("long_query_time", 5)
    watch(connections)
    row = instance.parameters.get(name="long_query_time")
    assert row.is_drifted and float(row.running) == 5
    assert not instance.changes.filter(kind="repush").exists()
    server.set_global("long_query_time", 2)
    server.close()
    watch(connections)
    assert not instance.parameters.get(name="long_query_time").is_drifted


def test_drift_is_told_when_it_begins_and_when_it_ends(instance, shared_server, connections):
    changed(instance, {"long_query_time": "2"})
    told = Event.objects.filter(topic="instance", subject=instance.pk)
    watch(connections)
    told.delete()
    server = shared_server.connect()
    for value in (5, 2):
        server.set_global("long_query_time", value)
        watch(connections)
        assert told.count() == 1, value
        watch(connections)
        assert told.delete()[0] == 1, "what has not moved is not told"
    server.close()


def test_watching_moves_no_version(instance, connections):
    watch(connections)
    before = instance.version
    instance.refresh_from_db()
    assert instance.version == before and instance.last_seen_at is not None


def test_a_server_that_was_restarted_gets_its_dynamic_parameters_again(own_server, connections):
    server = own_server()
    instance = row_for(server)
    changed(instance, {"long_query_time": "2"})
    server.configure({})  # as if the control plane did not write its configuration file
    server.restart()
    Instance.objects.update(server_started_at=timezone.now() - timedelta(hours=1))  # the server ran for an hour
    watch(connections)
    change = instance.changes.get(kind="repush")
    run(change)
    assert change.state == "applied"
    connection = server.connect()
    assert float(connection.variable("long_query_time")) == 2
    connection.close()


def test_a_restart_beside_a_change_that_is_due_is_answered_once_that_has_ended(own_server, connections):
    server = own_server()
    instance = row_for(server)
    changed(instance, {"long_query_time": "2"})
    due = asked(instance, {"sort_buffer_size": "4194304"})
    server.configure({})
    server.restart()
    Instance.objects.update(server_started_at=timezone.now() - timedelta(hours=1))
    watch(connections)
    assert not instance.changes.filter(kind="repush").exists()
    services.change_abort(due)
    watch(connections)
    assert run(instance.changes.get(kind="repush")).state == "applied"


def test_a_check_leaves_a_restart_to_be_noticed(own_server, connections):
    server = own_server()
    instance = row_for(server)
    changed(instance, {"long_query_time": "2"})
    server.configure({})
    server.restart()
    Instance.objects.update(server_started_at=timezone.now() - timedelta(hours=1))
    instance_check(Instance.objects.get(pk=instance.pk))
    watch(connections)
    assert instance.changes.filter(kind="repush").exists()


def test_what_was_seen_before_a_change_ended_is_not_noted_after_it(instance):
    changed(instance, {"long_query_time": "2"})
    late = Late(lambda: changed(instance, {"long_query_time": "3"}))
    watch(late)
    late.keep_only(())
    row = instance.parameters.get(name="long_query_time")
    assert (float(row.running), row.is_drifted) == (3, False)


def test_a_server_that_was_away_during_a_change_is_running_after_it(own_server):
    server = own_server()
    instance = row_for(server)
    server.stop()
    watch(Late(lambda: run(services.change_restart(instance, note="", apply=True, when="now", at=None))))
    assert Instance.objects.get(pk=instance.pk).state == "running"


def test_watching_many_costs_a_constant_number_of_queries(shared_server, connections, django_assert_max_num_queries):
    account = {"username": shared_server.username, "password": shared_server.password}
    for _ in range(5):
        instance = instance_make(port=shared_server.port, **account)
        instance.parameters.create(name="long_query_time", submitted="10", resolved="10", running="10.000000")
    watch(connections)
    assert Instance.objects.exclude(engine_version="").count() == 5
    with django_assert_max_num_queries(8):
        watch(connections)


def test_a_server_that_is_gone_is_unreachable_until_it_is_back(own_server, connections):
    server = own_server()
    instance = row_for(server)
    server.stop()
    watch(connections)
    instance.refresh_from_db()
    assert instance.state == "unreachable" and "refused" in instance.state_reason.lower()
    server.start()
    watch_silent()
    instance.refresh_from_db()
    assert (instance.state, instance.state_reason) == ("running", "")


def test_a_server_that_is_killed_is_unreachable_before_the_next_round_and_surely_after_a_second_probe(
    own_server, connections
):
    server = own_server()
    instance = row_for(server)
    watch(connections)
    watching.watch_closed(connections)
    assert len(connections) == 1, "an open connection stays"
    server.stop(force=True)
    until(lambda: watching.watch_closed(connections) or not connections, "the closed connection is noticed")
    instance.refresh_from_db()
    assert (instance.state, instance.missed_again_at, len(connections)) == ("unreachable", None, 0)
    assert instance.state_since is not None
    for _ in range(2):
        watch_silent()
    instance.refresh_from_db()
    assert instance.missed_again_at > instance.state_since
    server.start()
    watch_silent()
    instance.refresh_from_db()
    assert (instance.state, instance.missed_again_at) == ("running", None)


def test_a_server_that_only_closes_its_idle_connections_stays_running(own_server, connections):
    server = own_server()
    instance = row_for(server)
    watch(connections)
    client = server.connect()
    killed = "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND COMMAND = 'Sleep'"
    client.run(f"KILL {client.value(killed)}")
    client.close()
    until(lambda: watching.watch_closed(connections) or not connections, "the closed connection is noticed")
    instance.refresh_from_db()
    assert (instance.state, len(connections)) == ("running", 0)
    watching.watch_closed(connections)


def test_of_many_that_are_silent_each_is_asked_in_its_turn(shared_server, monkeypatch):
    monkeypatch.setattr(watching, "SILENT_BATCH", 2)
    account = {"port": shared_server.port, "username": shared_server.username, "password": shared_server.password}
    back = [instance_make(state=state, **account) for state in ("unreachable", "stopped", "failed", "unreachable")]
    gone = instance_make(state="unreachable", port=1)
    watch_silent()
    assert set(Instance.objects.filter(state="running")) == set(back)
    gone.refresh_from_db()
    assert gone.state == "unreachable"


ODD = {
    "another first column": tells(lambda name: b"7", clock=b"time"),
    "no version": tells(lambda name: b""),
    "versions without a release": tells(lambda name: b"a\0server"),
    "NULL": tells(lambda name: None),
    "numbers of 300 digits": tells(lambda name: b"9" * 300),
    "digits of another script": tells(lambda name: "\N{SUPERSCRIPT TWO}".encode()),
}


@pytest.mark.parametrize("play", ODD.values(), ids=ODD.keys())
def test_what_one_server_says_hides_no_other(own_server, connections, play):
    server = own_server()
    killed = row_for(server)
    with hostile(play) as listener:
        for state in ("running", "unreachable"):
            instance_make(port=listener.port, state=state)
        server.stop(force=True)
        watch(connections)
        killed.refresh_from_db()
        assert killed.state == "unreachable"
        server.start()
        watch_silent()
        killed.refresh_from_db()
        assert killed.state == "running"
        connections.keep_only(())
