"""One process of many looks at the servers, and another one takes over when it dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from config.celery import app
from controlplane.core.models import Clock
from controlplane.fleet import lookout
from controlplane.fleet.kept_connections import Connections
from controlplane.fleet.lookout import LOOKOUT, NAME, Lookout
from controlplane.metrics import polling
from controlplane.metrics.models import Sample
from controlplane.metrics.tasks import look
from controlplane.metrics.tests.fleet import class_make, instance_make
from controlplane.settings.selectors import settings_get
from testing.workers import BACKEND, environment_of, until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def polled(shared_server: Any) -> Any:
    """Yields the shared server as an instance with an account of its own, `looked_at`. The polling interval is 5 s."""
    row = settings_get()
    row.poll_interval_seconds = 5
    row.save()
    class_make()
    run(shared_server, "CREATE USER looked_at IDENTIFIED BY 'looked-at'", "GRANT PROCESS ON *.* TO looked_at")
    yield instance_make(port=shared_server.port, username="looked_at", password="looked-at")
    run(shared_server, "DROP USER looked_at")


def run(server: Any, *statements: str) -> None:
    connection = server.connect()
    for statement in statements:
        connection.run(statement)
    connection.close()


@pytest.fixture
def connected(shared_server: Any) -> Iterator[Callable[[], int]]:
    """Yields a function that returns how many connections the account `looked_at` has to the server now."""
    connection = shared_server.connect()
    counted = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'looked_at'"
    yield lambda: connection.value(counted)
    connection.close()


@pytest.fixture
def workers() -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Yields a function that starts a Celery worker of four processes and returns its process.

    All workers are killed at the end of the test.
    """
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "celery", "--app", "config.celery", "worker", "--concurrency", "4"]
        words += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        environment = environment_of(FQC_CONNECT_TIMEOUT_SECONDS="60", FQC_STATEMENT_TIMEOUT_SECONDS="60")
        environment["FQC_LOG_LEVEL"] = "ERROR"
        started.append(subprocess.Popen(words, cwd=BACKEND, env=environment, start_new_session=True))
        return started[-1]

    yield start
    for process in started:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def rounds() -> int:
    return Sample.objects.count()


def more_rounds(count: int) -> None:
    """Waits until `count` more rounds of polls have ended, and keeps sending workers the task that starts them."""
    wanted = rounds() + count
    until(lambda: look.delay() and rounds() >= wanted, f"{count} more rounds")


def test_of_all_worker_processes_one_is_connected_and_another_when_it_is_dead(
    polled: Any, connected: Callable[[], int], workers: Callable[[], subprocess.Popen[bytes]]
) -> None:
    first = workers()
    for _ in range(3):
        more_rounds(1)
        assert connected() <= 1
    end(first)
    until(lambda: connected() == 0, "the server has noticed")
    workers()
    more_rounds(2)
    until(lambda: connected() == 1, "one is connected")


@pytest.fixture
def lookouts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Lookout]]:
    made: list[Lookout] = []
    monkeypatch.setattr(lookout, "TICK_SECONDS", 0.05)

    def make() -> Lookout:
        it = Lookout(Connections())
        it.lanes["living"].append(lambda: polling.poll_round(rounds() + 1, it.connections))
        made.append(it)
        return it

    yield make
    Clock.objects.filter(name=NAME).delete()
    for each in made:
        if each._thread is not None:
            each._thread.join()


def test_who_lost_the_lease_closes_its_connections(
    polled: Any, connected: Callable[[], int], lookouts: Callable[[], Lookout]
) -> None:
    first, second = lookouts(), lookouts()
    first.ensure_running()
    until(lambda: connected() == 1, "the first looks")
    second.ensure_running()
    assert second._thread is None
    Clock.objects.filter(name=NAME).update(due_at=0)  # as if the first process had missed its turn
    until(lambda: connected() == 0, "the first notices and hangs up")
    second.ensure_running()
    until(lambda: connected() == 1, "the second looks")


def test_a_duty_that_fails_ends_nothing(polled: Any, lookouts: Callable[[], Lookout]) -> None:
    it, done = lookouts(), []
    it.lanes["living"][:] = [lambda: 1 // 0, lambda: done.append(True)]
    it.ensure_running()
    until(lambda: len(done) > 2, "the other duty is done again and again")


def test_a_lane_that_is_held_up_holds_up_no_other(polled: Any, lookouts: Callable[[], Lookout]) -> None:
    it, is_over, begun = lookouts(), threading.Event(), []
    it.lanes["silent"].append(lambda: begun.append(True) or is_over.wait(60))
    it.ensure_running()
    try:
        before = rounds()
        until(lambda: rounds() > before + 2, "the other lane goes on")
        assert len(begun) == 1
    finally:
        is_over.set()


def test_a_worker_polls_and_watches() -> None:
    app.loader.import_default_modules()
    names = {lane: {duty.__name__ for duty in duties} for lane, duties in LOOKOUT.lanes.items()}
    assert names == {
        "living": {"poll_if_due", "watch_if_due", "note_if_due"},
        "silent": {"watch_silent_if_due"},
        "privileges": {"look_at_privileges_if_due"},
        "storage": {"look_at_storage_if_due"},
    }
