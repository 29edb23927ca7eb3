"""A change is never applied twice, whatever dies or hangs, and always ends in a state that reports what is the case."""

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.changes import services
from controlplane.changes.models import ChangeSet
from controlplane.changes.steps import Run
from controlplane.changes.upkeep import sweep
from controlplane.core.request_context import acting_as
from controlplane.fleet.models import Instance
from controlplane.fleet.services import instance_forget
from controlplane.gateway.errors import Unreachable
from controlplane.gateway.tests.dribble import dribbling
from testing.changes import asked, run
from testing.faults import ended, killed_while_held, running
from testing.servers import row_for
from testing.workers import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("shipped_classes")]


def test_a_worker_killed_in_mid_change_leaves_a_change_that_is_undone_and_says_so(held, shared_server, worker):
    instance, proxy = held
    before = running(shared_server, "sort_buffer_size")
    change = asked(instance, {"long_query_time": "4", "sort_buffer_size": "4194304"})
    killed_while_held(worker(FQC_CHANGE_LEASE_SECONDS="1"), proxy, shared_server)
    until(lambda: sweep() or ended(change), "somebody takes the change over")
    assert (change.state, change.outcome_code) == ("rolled_back", "worker_lost")
    assert running(shared_server, "sort_buffer_size") == before
    assert float(running(shared_server, "long_query_time")) == 10
    assert {step.state for step in change.steps.all()} == {"undone", "pending"}
    assert Instance.objects.get(pk=instance.pk).state == "running"


def test_two_workers_and_three_deliveries_apply_a_change_once(held, shared_server, worker):
    instance, proxy = held
    proxy.release()
    change = asked(instance, {"sort_buffer_size": "4194304"})
    for _ in range(3):
        services.deliver(change.pk)
    worker()
    worker()
    until(lambda: ended(change), "the change ends")
    assert change.state == "applied"
    assert proxy.seen == 1


def test_a_server_that_hangs_is_given_up_and_the_change_says_what_is_left(held, settings, shared_server):
    instance, _ = held
    settings.STATEMENT_TIMEOUT_SECONDS = settings.CONNECT_TIMEOUT_SECONDS = 3
    change = run(asked(instance, {"long_query_time": "4", "sort_buffer_size": "4194304"}))
    assert (change.state, change.outcome_code) == ("failed", "server_unreachable")
    assert "Could not be undone" in change.outcome_detail
    instance.refresh_from_db()
    assert instance.state == "unreachable"


def test_a_server_that_answers_byte_by_byte_is_given_up_and_the_change_says_what_is_left(held, settings, shared_server):
    """Each byte arrives within a statement's time limit, the whole answer after it.

    The change fails, and its outcome names the steps that could not be undone.
    """
    instance, _ = held
    settings.STATEMENT_TIMEOUT_SECONDS = settings.CONNECT_TIMEOUT_SECONDS = 3
    with dribbling(shared_server.port, b"SET GLOBAL `sort_buffer_size`", pause_seconds=0.5) as proxy:
        Instance.objects.update(port=proxy.port)
        change = run(asked(instance, {"long_query_time": "4", "sort_buffer_size": "4194304"}))
    assert (change.state, change.outcome_code) == ("failed", "server_unreachable")
    assert "Could not be undone" in change.outcome_detail
    assert [step.state for step in change.steps.filter(name="sort_buffer_size")] == ["failed"]


def test_a_step_speaks_to_the_server_no_longer_than_its_lease_lasts(held, settings):
    instance, proxy = held
    proxy.release()
    settings.CHANGE_LEASE_SECONDS = settings.STATEMENT_TIMEOUT_SECONDS = 2
    it = Run(asked(instance, {"long_query_time": "4"}), lambda: None)
    with pytest.raises(Unreachable):
        while True:
            it.server.rows("SELECT SLEEP(0.01)")
    it.close()
    it.renew()
    assert it.server.value("SELECT 1") == 1
    it.close()


def test_a_server_that_is_gone_before_the_first_step_changes_nothing(own_server):
    server = own_server()
    instance = row_for(server)
    change = asked(instance, {"long_query_time": "4"})
    server.stop()
    run(change)
    assert (change.state, change.outcome_code) == ("rolled_back", "server_unreachable")
    assert {step.state for step in change.steps.all()} == {"pending"}


def test_a_lost_message_is_delivered_again_by_the_sweep(held, settings, shared_server, worker):
    instance, proxy = held
    proxy.release()
    queue = settings.RUN_DIR / "broker" / "queue"
    away = queue.rename(queue.with_name("away"))
    queue.touch()  # a file in place of the broker's folder, so nothing can be delivered
    try:
        change = asked(instance, {"sort_buffer_size": "4194304"})
    finally:
        queue.unlink()
        away.rename(queue)
    assert change.state == "approved"
    worker()
    sweep()
    until(lambda: ended(change), "the change ends")
    assert change.state == "applied"


def test_a_worker_that_slept_through_its_lease_touches_nothing_more(held, shared_server, monkeypatch):
    instance, proxy = held
    proxy.release()
    change = asked(instance, {"long_query_time": "4", "sort_buffer_size": "4194304"})
    from controlplane.changes import execution

    def overslept(run, step, do=execution.do_step):
        do(run, step)
        if step.name == "long_query_time":  # another worker takes over while this one sleeps
            ChangeSet.objects.filter(pk=change.pk).update(lease_until=change.created_at)
            sweep()

    monkeypatch.setattr(execution, "do_step", overslept)
    run(change)
    assert (change.state, change.outcome_code) == ("rolled_back", "worker_lost")
    assert proxy.seen == 0
    states = {step.name or step.kind: step.state for step in change.steps.all()}
    assert states == {"long_query_time": "undone", "sort_buffer_size": "pending", "write_configuration": "pending"}
    assert float(running(shared_server, "long_query_time")) == 10


def test_a_worker_that_failed_after_its_lease_had_ended_says_nothing_about_its_step(held, monkeypatch):
    instance, proxy = held
    proxy.release()
    change = asked(instance, {"long_query_time": "4"})
    from controlplane.changes import execution

    def overslept_and_failed(run, step):
        ChangeSet.objects.filter(pk=change.pk).update(lease_until=change.created_at)
        sweep()
        raise Unreachable("the server is away, for this worker")

    monkeypatch.setattr(execution, "do_step", overslept_and_failed)
    run(change)
    assert (change.state, change.outcome_code) == ("rolled_back", "worker_lost")
    assert [step.state for step in change.steps.filter(kind="set_global")] == ["undone"]


@pytest.mark.parametrize("had_a_worker", [False, True])
def test_a_change_whose_instance_was_deleted_meanwhile_ends_and_says_so(held, had_a_worker):
    instance, _ = held
    change = asked(instance, {"long_query_time": "4"}, when="window")
    with acting_as("tester"):
        if had_a_worker:
            ChangeSet.objects.filter(pk=change.pk).update(state="applying", lease_until=change.created_at)
        else:
            services.change_apply_now(change)
        instance_forget(instance)
    sweep() if had_a_worker else run(change)
    change.refresh_from_db()
    assert (change.state, change.outcome_code) == ("failed", "instance_gone")
    assert AuditEvent.objects.filter(action="change.failed", target_id=change.pk).count() == 1


def test_a_step_that_can_neither_be_done_nor_undone_ends_the_change_and_is_named(held, settings):
    instance, proxy = held
    proxy.release()
    (settings.LOCAL_ROOT / instance.pk / "configured.cnf.new").mkdir()  # makes the write fail, as a full disk would
    try:
        change = run(asked(instance, {"long_query_time": "4"}))
    finally:
        (settings.LOCAL_ROOT / instance.pk / "configured.cnf.new").rmdir()
    assert (change.state, change.outcome_code) == ("failed", "internal")
    assert "write_configuration: [Errno" in change.outcome_detail.split("Could not be undone")[1]
    states = {step.kind: step.state for step in change.steps.all()}
    assert states == {"set_global": "undone", "write_configuration": "failed"}


def test_two_changes_of_one_instance_never_run_at_the_same_time(held):
    instance, proxy = held
    proxy.release()
    first, second = (asked(instance, {"long_query_time": str(seconds)}, when="window") for seconds in (3, 4))
    ChangeSet.objects.filter(pk=first.pk).update(state="applying")
    ChangeSet.objects.filter(pk=second.pk).update(when="now")
    run(second)
    assert second.state == "approved"


def test_a_change_planned_for_later_waits_and_moves_with_its_window(held):
    instance, proxy = held
    proxy.release()
    change = asked(instance, {"long_query_time": "3"}, when="window")
    assert change.not_before is not None
    ChangeSet.objects.filter(pk=change.pk).update(not_before=change.not_before.replace(year=2100))
    run(change)
    assert change.state == "approved"
    with acting_as("tester"):
        services.change_apply_now(change)
    assert AuditEvent.objects.filter(action="change.brought_forward", target_id=change.pk).count() == 1
    assert run(change).state == "applied"
