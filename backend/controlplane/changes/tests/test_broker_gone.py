"""The production broker goes down and comes back: the rows are authoritative, and no process has to be restarted."""

import pytest

from controlplane.changes.models import ChangeSet
from controlplane.fleet.models import Instance
from testing.faults import ended, running
from testing.web import Browser
from testing.workers import ALONE, OF_TWO, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("shipped_classes")]


@pytest.fixture
def ask(web, broker, operator):
    """Returns a function that requests a change of an instance's parameters from a real web process with this broker,
    and returns the stored change set.
    """
    browser = Browser(web(FQC_BROKER_URL=broker.url))
    headers = {"Authorization": operator._credentials["HTTP_AUTHORIZATION"]}

    def asked(instance, parameters):
        body = {"parameters": parameters, "apply": True}
        status, change, _ = browser.ask(f"/api/v1/instances/{instance.pk}/changes", body, **headers)
        assert status == 201, change
        return ChangeSet.objects.get(pk=change["id"])

    return asked


@pytest.mark.parametrize(
    ("broker", "pool"),
    [("redis", ALONE), ("redis", OF_TWO), ("rabbitmq", OF_TWO)],
    ids=["alone", "of two", "of two on RabbitMQ"],
    indirect=["broker"],
)
def test_a_broker_that_dies_in_mid_change_leaves_the_change_to_its_worker_and_the_next_one_to_the_sweep(
    held, shared_server, worker, beat, broker, ask, pool
):
    instance, proxy = held
    place = {"FQC_BROKER_URL": broker.url}
    worker(pool=pool, **place)
    beat(**place)
    change = ask(instance, {"sort_buffer_size": "4194304"})
    until(proxy.is_held.is_set, "the worker reaches the step: the broker told it")
    broker.stop()
    proxy.release()
    until(lambda: ended(change), "the worker ends the change alone")
    assert (change.state, running(shared_server, "sort_buffer_size")) == ("applied", "4194304")
    following = ask(Instance.objects.get(pk=instance.pk), {"long_query_time": "4"})
    broker.start()
    until(
        lambda: ended(following), "the same worker and scheduler find the broker again, and the sweep what was not told"
    )
    assert (following.state, float(running(shared_server, "long_query_time"))) == ("applied", 4)
    change.refresh_from_db()
    assert (change.state, proxy.seen) == ("applied", 1), "the message that nobody could acknowledge did nothing again"
