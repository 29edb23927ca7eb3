"""Would the cache pay? Observed on a real server while the cache is off, told in one sentence, and ended by itself."""

from datetime import timedelta
from itertools import count as counting
from itertools import cycle, islice, repeat

import pytest
from django.utils import timezone

from controlplane.changes import upkeep
from controlplane.changes.models import ChangeSet
from controlplane.fleet.models import Observation
from controlplane.gateway.tests.hostile import hostile, tells
from controlplane.metrics.tests.fleet import instance_make
from testing.changes import changed, run
from testing.workers import until

pytestmark = pytest.mark.django_db
READS = 1200


@pytest.fixture(autouse=True)
def _left_as_it_was(shared_server):
    yield
    server = shared_server.connect()
    server.run("SET GLOBAL fqc_observe = OFF")
    server.close()


@pytest.fixture
def table(shared_server):
    server = shared_server.connect()
    server.run("CREATE OR REPLACE DATABASE observed")
    server.run("CREATE TABLE observed.items (id INT PRIMARY KEY, name VARCHAR(20))")
    server.run("INSERT INTO observed.items VALUES (1, 'one'), (2, 'two'), (3, 'three')")
    yield server
    server.run("DROP DATABASE observed")
    server.close()


def begin(operator, instance, hours=1):
    answer = operator.post(f"/api/v1/instances/{instance.pk}/cache/observe", {"hours": hours})
    assert answer.status_code == 202, answer.json()
    done = run(ChangeSet.objects.get(pk=answer.json()["id"]))
    assert done.state == "applied", done.outcome_detail
    return done


def advice(viewer, instance):
    return viewer.get(f"/api/v1/instances/{instance.pk}/cache/advice").json()


def read(shared_server, server, keys, count=READS):
    """Reads rows with these keys until the engine has observed `count` more reads.

    Each try uses a new session, since an engine that has just resumed only follows sessions opened after that.
    """
    until(lambda: server.status("Fqc_awake")["Fqc_awake"] == "1", "the engine is awake")
    before = observed(server)

    def are_observed():
        session = shared_server.connect()
        for key in islice(keys, count):
            session.rows(f"SELECT name FROM observed.items WHERE id = {key}")
        session.close()
        return observed(server) - before >= count

    until(are_observed, "the reads are observed")


def observed(server):
    return int(server.status("Fqc_observed_requests")["Fqc_observed_requests"])


def long_ago(instance):
    Observation.objects.filter(instance=instance).update(started_at=timezone.now() - timedelta(minutes=20))


def test_reads_that_repeat_lead_to_the_advice_to_enable_with_a_size(operator, viewer, table, instance, shared_server):
    assert advice(viewer, instance)["recommendation"]["verdict"] == "observe"
    hits = table.status("Qcache_hits")
    begin(operator, instance)
    assert table.variable("fqc_type") in ("0", "OFF") and int(table.variable("fqc_size")) > 0
    read(shared_server, table, repeat(1), count=1)
    assert advice(viewer, instance)["recommendation"]["verdict"] == "observing"
    read(shared_server, table, cycle([1, 2, 3]))
    long_ago(instance)
    found = advice(viewer, instance)
    told = found["recommendation"]
    assert (told["verdict"], told["is_enough"]) == ("enable", True)
    assert told["hit_ratio"] > 0.9 and told["text"].startswith("Enable: ") and "Suggested size: " in told["text"]
    [curve] = [each for each in found["sizes"] if each["rule"] == "curve"]
    assert told["size_bytes"] == curve["size_bytes"]
    assert told["hit_ratio"] in [point["hit_ratio"] for point in found["curve"]]
    assert table.status("Qcache_hits") == hits, "nothing is served meanwhile"
    listed = viewer.get(f"/api/v1/instances/{instance.pk}/cache/queries").json()["items"]
    [row] = [each for each in listed if each["Query"] == "SELECT name FROM observed.items WHERE id = ?"]
    assert int(row["Observed_requests"]) >= READS and float(row["Observed_hit_ratio"]) > 0.9
    assert (row["Hits"], row["Inserts"], row["Wasted"]) == ("0", "0", "0")


def test_connections_from_before_are_not_observed_and_the_advice_says_to_reconnect(
    operator, viewer, table, instance, shared_server
):
    until(lambda: table.status("Fqc_awake") == {"Fqc_awake": "0"}, "the engine is asleep")
    pool = shared_server.connect()
    pool.rows("SELECT name FROM observed.items WHERE id = 1")
    begin(operator, instance)
    before = observed(table)
    for _ in range(20):
        pool.rows("SELECT name FROM observed.items WHERE id = 1")
    pool.close()
    assert observed(table) == before
    told = advice(viewer, instance)["recommendation"]
    assert told["verdict"] == "observing" and told["text"].endswith("let the application's pool reconnect.")


def test_reads_that_never_repeat_lead_to_the_advice_not_to_enable(operator, viewer, table, instance, shared_server):
    begin(operator, instance)
    read(shared_server, table, counting(10))
    long_ago(instance)
    told = advice(viewer, instance)["recommendation"]
    assert told["verdict"] == "do_not_enable" and told["text"].startswith("Do not enable: only ")


def test_it_ends_by_itself_leaves_the_server_as_it_was_and_keeps_its_answer(
    operator, viewer, table, instance, shared_server
):
    before = (table.variable("fqc_observe"), table.variable("fqc_size"))
    begin(operator, instance)
    read(shared_server, table, cycle([1, 2, 3]))
    long_ago(instance)
    upkeep.observations_end_due()
    assert advice(viewer, instance)["observation"]["is_running"], "its time is not over"
    Observation.objects.update(ends_at=timezone.now())
    upkeep.observations_end_due()
    ending = ChangeSet.objects.filter(instance=instance).order_by("-created_at").first()
    assert run(ending).state == "applied" and ending.note == "the observation has ended"
    assert (table.variable("fqc_observe"), table.variable("fqc_size")) == before
    found = advice(viewer, instance)
    assert not found["observation"]["is_running"]
    size = found["recommendation"]["size_bytes"]
    assert found["recommendation"]["verdict"] == "enable" and size
    [suggested] = [each for each in found["sizes"] if each["is_suggested"]]
    assert (suggested["rule"], suggested["size_bytes"]) == ("curve", size)
    lines = operator.post(f"/api/v1/instances/{instance.pk}/cache/preview", {}).json()["lines"]
    assert [line["new_value"] for line in lines if line["name"] == "query_cache_size"] == [str(size)]


def test_whoever_has_seen_enough_ends_it_and_a_second_end_is_refused(operator, instance, table):
    begin(operator, instance)
    begin(operator, instance, hours=0)
    again = operator.post(f"/api/v1/instances/{instance.pk}/cache/observe", {"hours": 0})
    assert (again.status_code, again.json()["code"]) == (409, "not_observed")
    assert table.variable("fqc_observe") in ("0", "OFF")


def test_enabling_ends_it_and_keeps_the_size_that_was_chosen(operator, instance, table):
    begin(operator, instance)
    answer = operator.post(f"/api/v1/instances/{instance.pk}/cache/enable", {"rule": "explicit", "size_bytes": 2097152})
    assert run(ChangeSet.objects.get(pk=answer.json()["id"])).state == "applied"
    assert table.variable("fqc_observe") in ("0", "OFF")
    Observation.objects.update(ends_at=timezone.now())
    changes = ChangeSet.objects.count()
    upkeep.observations_end_due()
    assert ChangeSet.objects.count() == changes and table.variable("fqc_size") == "2097152"


def test_a_cache_that_is_on_is_not_observed(operator, instance):
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    answer = operator.post(f"/api/v1/instances/{instance.pk}/cache/observe", {"hours": 1})
    assert (answer.status_code, answer.json()["code"]) == (409, "cache_is_on")


def test_a_server_that_does_not_answer_is_tried_again_later(operator, instance):
    begin(operator, instance)
    Observation.objects.update(ends_at=timezone.now())
    type(instance).objects.filter(pk=instance.pk).update(port=1)
    upkeep.observations_end_due()
    found = Observation.objects.get()
    assert found.is_running and found.ends_at > timezone.now()


def test_a_server_that_says_nonsense_keeps_no_other_observation_from_its_end(operator, instance, table):
    begin(operator, instance)
    with hostile(tells(lambda name: b"7", clock=b"time")) as listener:
        odd = instance_make(name="an odd one", port=listener.port)
        facts = {"started_at": timezone.now(), "counted_before": {}}
        Observation.objects.create(instance=odd, ends_at=timezone.now() - timedelta(hours=1), **facts)
        Observation.objects.filter(instance=instance).update(ends_at=timezone.now())
        upkeep.sweep()
    assert not Observation.objects.get(instance=instance).is_running
    assert Observation.objects.get(instance=odd).ends_at > timezone.now()
