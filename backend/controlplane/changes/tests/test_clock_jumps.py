"""Clocks that jump while changes wait, run or lost their worker: each change ends in a stated state, and none runs
twice.
"""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from controlplane.changes import upkeep
from controlplane.changes.models import ChangeSet
from controlplane.changes.upkeep import sweep
from controlplane.fleet.models import Instance
from testing.changes import asked, changed, run
from testing.clock import Clock
from testing.faults import ended, running
from testing.servers import row_for
from testing.workers import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("shipped_classes")]
HOUR = 3600
FAST = {"FQC_CHANGE_LEASE_SECONDS": "1"}
PATIENT = {"FQC_CHANGE_LEASE_SECONDS": "3600"}  # long enough for a slow machine


def test_what_is_to_run_now_does_not_wait_for_a_clock_that_was_set_back(held, clock):
    instance, proxy = held
    proxy.release()
    change = asked(instance, {"long_query_time": "4"})
    clock.jump(-2 * HOUR)
    assert change.pk in upkeep.due()
    assert run(change).state == "applied"


def test_a_change_for_the_window_waits_for_the_next_one_if_the_clock_was_set_past_it(held, clock):
    instance, proxy = held
    proxy.release()
    opens = (datetime.now(UTC) + timedelta(hours=1)).replace(second=0, microsecond=0)
    Instance.objects.update(window_start=opens.time(), window_minutes=30)
    change = asked(instance, {"long_query_time": "4"}, when="window")
    assert change.not_before == opens
    clock.jump(5 * HOUR)
    run(change)
    assert (change.state, change.not_before) == ("approved", opens + timedelta(days=1))
    clock.jump(25 * HOUR)  # within a minute after the window opens
    assert run(change).state == "applied"


def test_a_change_at_a_time_runs_once_though_that_time_comes_twice(held, clock):
    instance, proxy = held
    proxy.release()
    change = asked(instance, {"sort_buffer_size": "4194304"}, when="at", at=timezone.now() + timedelta(hours=1))
    run(change)
    assert change.state == "approved"
    for hours in (2, 0, 2):
        clock.jump(hours * HOUR)
        sweep()
        run(change)
    assert (change.state, proxy.seen) == ("applied", 1)


def test_a_clock_set_back_leaves_a_working_change_to_its_worker(held, clock, worker):
    instance, proxy = held
    change = asked(instance, {"sort_buffer_size": "4194304"})
    worker(clock.python())
    until(proxy.is_held.is_set, "the worker reaches the step")
    clock.jump(-2 * HOUR)
    sweep()
    proxy.release()
    until(lambda: sweep() or ended(change), "the change ends")
    assert (change.state, proxy.seen) == ("applied", 1)


def test_a_clock_set_back_does_not_keep_a_dead_workers_change_for_hours(
    held, clock, worker, shared_server, settings, monkeypatch
):
    instance, proxy = held
    before = running(shared_server, "sort_buffer_size")
    change = asked(instance, {"sort_buffer_size": "4194304"})
    process = worker(clock.python(), **FAST)
    until(proxy.is_held.is_set, "the worker reaches the step")
    process.kill()
    process.wait()
    proxy.release()
    settings.CHANGE_LEASE_SECONDS = 1
    monkeypatch.setattr(upkeep, "SLACK", timedelta(0))
    clock.jump(-2 * HOUR)
    until(lambda: sweep() or ended(change), "somebody takes the change over")
    assert (change.state, change.outcome_code) == ("rolled_back", "worker_lost")
    assert running(shared_server, "sort_buffer_size") == before


def test_a_clock_set_forward_in_mid_change_ends_it_undone_and_its_worker_does_no_more(
    held, clock, worker, shared_server
):
    instance, proxy = held
    before = running(shared_server, "sort_buffer_size")
    change = asked(instance, {"long_query_time": "4", "sort_buffer_size": "4194304"})
    worker(clock.python())
    until(proxy.is_held.is_set, "the worker reaches the second step")
    until(lambda: running(shared_server, "sort_buffer_size") == "4194304", "the server does as it was told")
    clock.jump(2 * HOUR)
    proxy.release()
    until(lambda: sweep() or ended(change), "the change ends")
    # Either the worker finished before the sweep, or it was assumed dead.
    if change.state == "applied":
        assert running(shared_server, "sort_buffer_size") == "4194304"
    else:
        assert (change.state, change.outcome_code) == ("rolled_back", "worker_lost")
        assert running(shared_server, "sort_buffer_size") == before
    assert proxy.seen <= 2


def test_a_worker_whose_machine_is_hours_ahead_takes_nobodys_change(held, worker, own_server, tmp_path):
    instance, proxy = held
    if connection.vendor == "sqlite":
        pytest.skip("SQLite's processes share one machine and its clock")
    change = asked(instance, {"sort_buffer_size": "4194304"})
    worker(**PATIENT)
    until(proxy.is_held.is_set, "the worker reaches the step")
    ahead = Clock(tmp_path / "ahead")
    ahead.jump(2 * HOUR)
    other = asked(row_for(own_server()), {"long_query_time": "4"}, when="at", at=timezone.now())
    worker(ahead.python(is_alone=True), **PATIENT)
    until(lambda: send_sweep() or ended(other), "the worker that is ahead has swept")
    assert not ended(change)
    proxy.release()
    until(lambda: ended(change), "the change ends")
    assert (change.state, change.outcome_detail, other.state, proxy.seen) == ("applied", "", "applied", 1)


def send_sweep():
    from controlplane.changes.tasks import changes_sweep

    changes_sweep.delay()


def test_two_schedulers_and_two_workers_apply_a_change_that_is_due_once(held, worker, beat, tmp_path, settings):
    instance, proxy = held
    proxy.release()
    change = asked(instance, {"sort_buffer_size": "4194304"}, when="at", at=timezone.now())
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "local").symlink_to(settings.LOCAL_ROOT)
    place = {"FQC_RUN_DIR": str(tmp_path / "run")}
    for _ in range(2):
        worker(**place)
        beat(**place)
    until(lambda: ended(change), "the change ends")
    assert (change.state, proxy.seen) == ("applied", 1)


def test_drift_by_hand_stays_drift_however_the_clock_jumps(held, clock, shared_server):
    from controlplane.changes.watch import watch
    from controlplane.fleet.kept_connections import Connections

    instance, proxy = held
    proxy.release()
    changed(instance, {"long_query_time": "2"})
    server = shared_server.connect()
    server.set_global("long_query_time", 5)
    server.close()
    connections = Connections()
    for hours in (2, -2):
        clock.jump(hours * HOUR)
        watch(connections)
    connections.keep_only(())
    assert instance.parameters.get(name="long_query_time").is_drifted
    assert not ChangeSet.objects.filter(kind="repush").exists()
