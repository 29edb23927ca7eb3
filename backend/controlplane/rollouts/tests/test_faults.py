"""A worker that dies with an item in hand: its change is undone, the fleet apply goes on and says what became of it."""

import pytest

from controlplane.changes import upkeep
from controlplane.core.request_context import acting_as
from controlplane.fleet.models import Instance
from controlplane.parameters.services import template_create
from controlplane.rollouts import execution, services
from testing.faults import killed_while_held, running
from testing.servers import row_for
from testing.workers import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("shipped_classes")]


@pytest.mark.parametrize(
    ("max_failures", "ends"), [(0, ("stopped", ["failed", "skipped"])), (1, ("done", ["applied", "failed"]))]
)
def test_a_worker_killed_with_an_item_in_hand(held, shared_server, own_server, worker, max_failures, ends):
    instance, proxy = held
    Instance.objects.filter(pk=instance.pk).update(name="a-first")
    row_for(own_server(), name="b-second")
    before = running(shared_server, "sort_buffer_size")
    with acting_as("tester", "usr-tester"):
        template_create(name="sorting", engine_line="5.7", values={"sort_buffer_size": "4M"})
        row = services.fleet_apply_create(
            template="sorting", template_version=None, parallelism=1, max_failures=max_failures, allow_restart=False,
            note="", start=True, instances=[], tags={}, every=True,
        )  # fmt: skip
    killed_while_held(worker(FQC_CHANGE_LEASE_SECONDS="1"), proxy, shared_server)
    worker()

    def has_ended():
        upkeep.sweep()
        execution.sweep()
        row.refresh_from_db()
        return row.finished_at is not None

    until(has_ended, "the fleet apply ends")
    items = list(row.items.order_by("instance_name"))
    assert (row.state, sorted(item.state for item in items)) == ends
    assert items[0].state == "failed" and "worker that ran this change is gone" in items[0].detail
    assert running(shared_server, "sort_buffer_size") == before
    assert proxy.seen <= 2, "set once, and once to take it back"
