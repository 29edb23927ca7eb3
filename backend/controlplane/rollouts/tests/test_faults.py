"""If a worker dies with an item, its change is undone, and the fleet apply continues and reports the result."""

import pytest

from controlplane.changes import upkeep
from controlplane.changes.models import ChangeSet
from controlplane.core.request_context import acting_as
from controlplane.fleet.models import Instance
from controlplane.parameters.services import template_create
from controlplane.rollouts import execution, services
from testing.faults import killed_while_held, running
from testing.servers import row_for
from testing.wire import HoldingProxy
from testing.workers import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("shipped_classes")]


def rolled_out(**facts):
    with acting_as("tester", "usr-tester"):
        template_create(name="sorting", engine_line="5.7", values={"sort_buffer_size": "4M"})
        return services.fleet_apply_create(
            template="sorting", template_version=None, parallelism=1, allow_restart=False, note="", start=True,
            instances=[], tags={}, every=True, **facts,
        )  # fmt: skip


def has_ended(row):
    upkeep.sweep()
    execution.sweep()
    row.refresh_from_db()
    return row.finished_at is not None


@pytest.fixture
def looked_at(shared_server):
    """Yields a proxy before the shared server, which is stored as an instance behind it.

    The proxy holds the answer to the first query of a change.
    """
    instance = row_for(shared_server, name="a-first")
    proxy = HoldingProxy(shared_server.port, b"SHOW GLOBAL VARIABLES")
    Instance.objects.filter(pk=instance.pk).update(port=proxy.port)
    yield proxy
    proxy.close()
    server = shared_server.connect()
    server.set_global_default("sort_buffer_size")
    server.close()


def test_an_item_whose_worker_was_killed_before_its_change_began_is_tried_again_within_the_lease(
    looked_at, own_server, worker, settings
):
    settings.CHANGE_LEASE_SECONDS = 3
    row_for(own_server(), name="b-second")
    row = rolled_out(max_failures=0)
    killed = worker()
    until(looked_at.is_held.is_set, "the worker looks at the first server")
    killed.kill()
    killed.wait()
    looked_at.release()
    worker()
    until(lambda: has_ended(row), "the fleet apply ends", seconds=120)
    assert row.state == "done"
    assert [item.state for item in row.items.all()] == ["applied", "applied"]
    assert ChangeSet.objects.count() == 2


@pytest.mark.parametrize(
    ("max_failures", "ends"), [(0, ("stopped", ["failed", "skipped"])), (1, ("done", ["applied", "failed"]))]
)
def test_a_worker_killed_with_an_item_in_hand(held, shared_server, own_server, worker, max_failures, ends):
    instance, proxy = held
    Instance.objects.filter(pk=instance.pk).update(name="a-first")
    row_for(own_server(), name="b-second")
    before = running(shared_server, "sort_buffer_size")
    row = rolled_out(max_failures=max_failures)
    killed_while_held(worker(FQC_CHANGE_LEASE_SECONDS="1"), proxy, shared_server)
    worker()

    until(lambda: has_ended(row), "the fleet apply ends")
    items = list(row.items.order_by("instance_name"))
    assert (row.state, sorted(item.state for item in items)) == ends
    assert items[0].state == "failed" and "worker that ran this change has stopped" in items[0].detail
    assert running(shared_server, "sort_buffer_size") == before
    assert proxy.seen <= 2, "set once, and once to take it back"
