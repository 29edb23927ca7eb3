"""Rounds against real servers: their work becomes numbers, a failure leaves a gap, and no two processes poll at
once.
"""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from controlplane.core.models import Event
from controlplane.core.sealing import seal
from controlplane.core.turns import turn_claim, turn_end
from controlplane.fleet.kept_connections import Connections
from controlplane.fleet.models import Instance, LookFault
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.product import MARIADB
from controlplane.gateway.tests.dribble import dribbling
from controlplane.gateway.tests.hostile import END, Talk, answers, column, hostile, tells
from controlplane.gateway.tests.stranger import GREETINGS, stranger
from controlplane.metrics import intervals, polling
from controlplane.metrics.models import FleetMinute, Latest, Sample
from controlplane.metrics.rollups import rollup
from controlplane.metrics.tests.fleet import instance_make
from testing.servers import managed
from testing.workers import until

T = 1_800_000_000


def reached(server: Any, **facts: Any) -> Any:
    """Stores and returns an instance that polls can reach: this server with its account."""
    return instance_make(port=server.port, username=server.username, password=server.password, **facts)


def run(server: Any, *statements: str) -> None:
    connection = server.connect()
    for statement in statements:
        connection.run(statement)
    connection.close()


@pytest.mark.django_db
def test_two_rounds_make_rates_of_what_ran_between_them(shared_server: Any, connections: Connections) -> None:
    instance = reached(shared_server)
    polling.poll_round(T, connections)
    run(shared_server, *["SELECT 1 FROM mysql.user LIMIT 1"] * 20, "SELECT SLEEP(0)")
    done = polling.poll_round(T + 15, connections)
    assert (done.answered_count, done.failed_count) == (1, 0)
    first, second = Sample.objects.filter(instance_id=instance.pk).order_by("at")
    assert (first.seconds, first.questions) == (0, 0)
    assert second.seconds > 0
    assert 21 <= second.selects <= second.questions
    assert second.connections and second.connections >= 1
    assert second.pool_size_bytes and second.pool_size_bytes > 0
    latest = Latest.objects.get(instance=instance)
    assert latest.growth["selects"] == second.selects
    assert Event.objects.filter(topic="samples").count() == 2


def lock_each_other(server: Any) -> None:
    """Causes a deadlock of two transactions on the server: one waits for a row lock, and the other is rolled back."""
    one, other = server.connect(), server.connect()
    one.run("CREATE DATABASE health")
    one.run("CREATE TABLE health.rows_ (id INT PRIMARY KEY, note INT)")
    one.run("INSERT INTO health.rows_ VALUES (1, 0), (2, 0)")
    refused: list[str] = []

    def want(mine: Any, row: int) -> None:
        try:
            mine.run(f"UPDATE health.rows_ SET note = note + 1 WHERE id = {row}")
        except GatewayError as error:
            refused.append(str(error))

    for mine, row in ((one, 1), (other, 2)):
        mine.run("BEGIN")
        want(mine, row)
    waiting = threading.Thread(target=want, args=(one, 2))
    waiting.start()
    watching = server.connect()
    until(lambda: watching.status("Innodb_row_lock_current_waits") != {"Innodb_row_lock_current_waits": "0"}, "a wait")
    want(other, 1)
    waiting.join()
    assert len(refused) == 1
    for each in (one, other):
        each.run("ROLLBACK")
        each.close()
    watching.run("FLUSH TABLES health.rows_ FOR EXPORT")  # writes its pages to disk
    watching.run("UNLOCK TABLES")
    watching.run("DROP DATABASE health")
    watching.close()


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["shared_server", "shared_mysql"])
def test_locks_temporary_tables_connections_and_disk_are_sampled(
    request: pytest.FixtureRequest, connections: Connections, kind: str
) -> None:
    server = request.getfixturevalue(kind)
    instance = managed(server)
    polling.poll_round(T, connections)
    lock_each_other(server)
    run(server, "SELECT table_name, COUNT(*) FROM information_schema.columns GROUP BY table_name")
    polling.poll_round(T + 15, connections)
    sample = Sample.objects.filter(instance_id=instance.pk).latest("at")
    assert sample.row_lock_waits >= 1 and sample.temporary_tables >= 1 and sample.disk_writes >= 1
    assert sample.deadlocks == (1 if server.product is MARIADB else 0)
    assert sample.temporary_disk_tables <= sample.temporary_tables
    assert (sample.lock_waiters, sample.refused_connections) == (0, 0)
    assert 1 <= sample.connections <= sample.most_connections


@pytest.mark.django_db
def test_an_instance_that_answers_without_end_costs_the_others_nothing(
    shared_server: Any, connections: Connections
) -> None:
    reached(shared_server)
    with hostile(answers(b"\x02", column(), column(), END, then=b"\x01a\x01b")) as listener:
        endless = instance_make(port=listener.port)
        for at in (T, T + 15):
            with capture_logs() as logs:
                done = polling.poll_round(at, connections)
            assert (done.answered_count, done.failed_count) == (1, 1)
            [failed] = [entry for entry in logs if entry["event"] == "poll_failed"]
            assert (failed["instance"], failed["code"]) == (endless.pk, "answer_too_long")
        connections.keep_only(())


FIGURES: dict[str, Callable[[str, int], str]] = {
    "a counter that grows by 10^25": lambda name, seen: str(10**25 * seen) if name == "Questions" else "7",
    "a counter of 10^19 that appears": lambda name, seen: str(10**19) if name == "Questions" and seen > 1 else "7",
    "a gauge of 10^400": lambda name, seen: str(10**400) if name == "Qcache_free_memory" else "7",
    "a gauge of 2^64 - 1": lambda name, seen: str(2**64 - 1) if name == "Qcache_free_memory" else "7",
    "a size of 2^70": lambda name, seen: str(2**70) if name == "query_cache_size" else "7",
    "a negative number": lambda name, seen: "-9223372036854775809",
    "no numbers": lambda name, seen: ("nan", "1e308", "\N{SUPERSCRIPT TWO}", "a\0b")[seen % 4],
    "a counter near its end": lambda name, seen: str(2**64 - 1 if seen % 2 else 0),
}


@pytest.mark.django_db
@pytest.mark.parametrize("told", FIGURES.values(), ids=FIGURES.keys())
def test_figures_of_one_server_cost_no_other_its_sample(
    shared_server: Any, connections: Connections, told: Callable[[str, int], str]
) -> None:
    healthy, seen = reached(shared_server), Counter[str]()

    def value(name: str) -> bytes:
        seen[name] += 1
        return told(name, seen[name]).encode()

    with hostile(tells(value)) as listener:
        odd = instance_make(port=listener.port)
        for at in (T, T + 15, T + 30):
            assert polling.poll_round(at, connections).answered_count == 2
        connections.keep_only(())
    for instance in (healthy, odd):
        assert Sample.objects.filter(instance_id=instance.pk).count() == 3
    rollup(T + 120)
    assert FleetMinute.objects.get(at=T).questions >= 0


@pytest.mark.django_db
def test_what_cannot_be_written_of_one_server_is_noted_on_it_until_it_can(
    shared_server: Any, connections: Connections, viewer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy = reached(shared_server)
    with hostile(tells(lambda name: str(10**400).encode())) as listener:
        odd = instance_make(port=listener.port)
        with monkeypatch.context() as patched:
            patched.setattr(intervals, "whole", lambda text, most=0: text and int(text))  # removes the bounds
            polling.poll_round(T, connections)
        assert list(Sample.objects.values_list("instance_id", flat=True)) == [healthy.pk]
        [fault] = LookFault.objects.all()
        assert (fault.instance_id, fault.duty) == (odd.pk, "poll")
        told = {pk: viewer.get(f"/api/v1/instances/{pk}").json()["state_reason"] for pk in (healthy.pk, odd.pk)}
        assert told == {healthy.pk: "", odd.pk: f"poll: {fault.detail}"}
        polling.poll_round(T + 15, connections)
        assert not LookFault.objects.exists()
        connections.keep_only(())


@pytest.mark.django_db
def test_a_server_that_was_late_is_left_out_of_the_next_rounds(
    shared_server: Any, connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy = reached(shared_server)
    polling.poll_round(T, connections)

    def says_nothing(talk: Talk) -> None:
        talk.let_in()
        talk.statement()
        talk.hear()  # until the client closes the connection

    with hostile(says_nothing) as listener:
        instance_make(port=listener.port)
        with monkeypatch.context() as patched:
            patched.setattr(polling, "STATEMENT_SECONDS", 1)
            patched.setattr(polling, "CONNECT_SECONDS", 1)
            assert polling.poll_round(T + 15, connections).failed_count == 1
        assert len(listener.talks) == 1
        assert polling.poll_round(T + 30, connections).failed_count == 1
        assert len(listener.talks) == 1
    assert Sample.objects.filter(instance_id=healthy.pk).count() == 3


@pytest.mark.django_db
def test_connections_are_kept_between_rounds(shared_server: Any, connections: Connections) -> None:
    reached(shared_server)
    ids = []
    for at in (T, T + 15):
        polling.poll_round(at, connections)
        ids += [server.connection.thread_id() for _, server in connections._open.values()]
    assert len(ids) == 2 and ids[0] == ids[1]


@pytest.mark.django_db
def test_a_connection_that_is_kept_lets_the_engine_rest(shared_server: Any, connections: Connections) -> None:
    reached(shared_server)
    server = shared_server.connect()
    server.run("SET GLOBAL query_cache_type = ON")
    polling.poll_round(T, connections)
    server.run("SET GLOBAL query_cache_type = OFF")
    assert len(connections) == 1
    until(lambda: server.rows("SHOW GLOBAL STATUS LIKE 'Fqc_awake'") == [("Fqc_awake", "0")], "the engine is asleep")
    server.close()


@pytest.mark.django_db
def test_a_connection_that_the_server_closed_is_opened_again_in_the_same_round(
    shared_server: Any, connections: Connections
) -> None:
    reached(shared_server)
    polling.poll_round(T, connections)
    [(_, kept)] = connections._open.values()
    run(shared_server, f"KILL {kept.connection.thread_id()}")
    assert polling.poll_round(T + 15, connections).answered_count == 1


@pytest.mark.django_db
def test_a_changed_password_is_used_at_once(shared_server: Any, connections: Connections) -> None:
    instance = reached(shared_server)
    polling.poll_round(T, connections)
    instance.password = "wrong"
    instance.save()
    assert polling.poll_round(T + 15, connections).failed_count == 1
    assert len(connections) == 0


@pytest.mark.django_db
def test_a_server_that_is_gone_or_silent_leaves_a_gap_and_the_others_their_samples(
    shared_server: Any, connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering = reached(shared_server)
    polling.poll_round(T - 15, connections)
    monkeypatch.setattr(polling, "CONNECT_SECONDS", 1)  # to the server that answers
    with socket.socket() as refusing, socket.socket() as silent:
        refusing.bind(("127.0.0.1", 0))
        silent.bind(("127.0.0.1", 0))
        silent.listen()  # accepts the connection and never sends anything
        for listener in (refusing, silent):
            instance_make(port=listener.getsockname()[1])
        done = polling.poll_round(T, connections)
    assert (done.answered_count, done.failed_count) == (1, 2)
    assert list(Sample.objects.filter(at=T).values_list("instance_id", flat=True)) == [answering.pk]


@pytest.mark.django_db
@pytest.mark.parametrize("is_kept", [False, True], ids=["from the greeting on", "on a connection that was kept"])
def test_a_server_that_answers_byte_by_byte_leaves_a_gap(
    shared_server: Any, connections: Connections, monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    with dribbling(shared_server.port) as proxy:
        instance = reached(shared_server)
        Instance.objects.update(port=proxy.port)
        if is_kept:
            assert polling.poll_round(T - 15, connections).answered_count == 1
        proxy.begin()
        monkeypatch.setattr(polling, "CONNECT_SECONDS", 1)
        monkeypatch.setattr(polling, "STATEMENT_SECONDS", 1)
        assert polling.poll_round(T, connections).failed_count == 1
        assert len(connections) == 0
    assert not Sample.objects.filter(instance_id=instance.pk, at=T).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("greeting", GREETINGS)
def test_what_is_no_server_or_cannot_be_opened_spoils_nothing(
    shared_server: Any, connections: Connections, greeting: bytes
) -> None:
    answering = reached(shared_server)
    instance_make()
    Instance.objects.exclude(pk=answering.pk).update(password_sealed="sealed by nobody")
    with stranger(greeting) as port, capture_logs() as logged:
        instance_make(port=port, password="x")
        done = polling.poll_round(T, connections)
    assert (done.answered_count, done.failed_count) == (1, 2)
    said = [line["code"] for line in logged if line["event"] in ("poll_failed", "ask_failed")]
    assert sorted(said) == ["not_a_server", "secret_not_opened"]


@pytest.mark.django_db
def test_a_password_that_cannot_be_opened_takes_one_line_of_the_log(connections: Connections) -> None:
    instance = instance_make(password="x")
    Instance.objects.update(password_sealed=seal("x", ["a key that is gone"], instance.secret_context))
    with capture_logs() as logged:
        polling.poll_round(T, connections)
    [said] = [line for line in logged if line.get("instance") == instance.pk]
    assert (said["event"], said["code"]) == ("poll_failed", "secret_not_opened")
    assert "FQC_SEALING_KEYS" in said["detail"] and "exc_info" not in said


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["stopped", "unreachable"])
def test_instances_that_would_not_answer_are_not_asked(connections: Connections, state: str) -> None:
    instance_make(state=state)
    assert polling.poll_round(T, connections) == polling.PollRound(T, 0, 0, pytest.approx(0, abs=5))  # type: ignore[arg-type]


@pytest.mark.django_db
def test_connections_of_removed_instances_are_closed(shared_server: Any, connections: Connections) -> None:
    instance = reached(shared_server)
    polling.poll_round(T, connections)
    instance.delete()
    polling.poll_round(T + 15, connections)
    assert len(connections) == 0


@pytest.mark.django_db
class TestTurns:
    def test_one_of_two_gets_the_turn(self) -> None:
        assert [turn_claim("work", 100, 60), turn_claim("work", 100, 60)] == [True, False]

    def test_whoever_dies_delays_the_next_by_the_lease(self) -> None:
        turn_claim("work", 100, 60)
        assert [turn_claim("work", 159, 60), turn_claim("work", 160, 60)] == [False, True]

    def test_a_turn_that_ended_comes_again_when_due(self) -> None:
        turn_claim("work", 100, 60)
        turn_end("work", 115)
        assert [turn_claim("work", 114, 60), turn_claim("work", 115, 60)] == [False, True]

    def test_rounds_start_on_multiples_of_the_interval_however_often_beat_knocks(self) -> None:
        found = [polling.poll_if_due(now) for now in (T + 0.5, T + 2.5, T + 14.9, T + 15.1, T + 15.2, T + 47.0)]
        assert [done and done.at for done in found] == [T, None, None, T + 15, None, T + 45]

    def test_a_clock_set_back_by_hours_holds_nothing_up(self) -> None:
        polling.poll_if_due(T + 7200.0)
        done = polling.poll_if_due(T + 0.0)
        assert done is not None and done.at == T
        assert polling.poll_if_due(T + 2.0) is None

    def test_a_turn_that_was_claimed_a_moment_later_is_not_taken_for_a_clock_set_back(self) -> None:
        assert [turn_claim("work", 101, 60), turn_claim("work", 100, 60)] == [True, False]

    def test_a_shorter_interval_is_kept_at_once(self) -> None:
        turn_claim("work", 100, 60, every_seconds=3600)
        turn_end("work", 3600)
        assert turn_claim("work", 130, 60, every_seconds=15)
