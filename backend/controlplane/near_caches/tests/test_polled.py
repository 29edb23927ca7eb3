"""Near caches as polls find them: a real server, and a near cache that speaks its protocol."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from controlplane.fleet.kept_connections import Connections
from controlplane.metrics import polling
from controlplane.metrics.definitions import METRICS
from controlplane.metrics.models import Latest
from controlplane.metrics.tests.fleet import instance_make
from testing.near import FakeNearCache
from testing.workers import until

pytestmark = pytest.mark.django_db
T = 1_800_000_000


@pytest.fixture
def server(own_server: Any) -> Any:
    """Returns a server with the engine and its cache on, which near caches require in order to attach."""
    made = own_server(has_engine=True)
    connection = made.connect()
    connection.run("SET GLOBAL query_cache_size = 1048576")
    connection.run("SET GLOBAL query_cache_type = ON")
    until(lambda: connection.status("Fqc_awake") == {"Fqc_awake": "1"}, "the engine is awake")
    connection.close()
    return made


@pytest.fixture
def connections() -> Iterator[Connections]:
    kept = Connections()
    yield kept
    kept.keep_only(())


def reached(server: Any) -> Any:
    seen = {"cache_type": "ON", "cache_size_bytes": 1048576}
    return instance_make(port=server.port, username=server.username, password=server.password, **seen)


def told(server: Any, name: str) -> int:
    connection = server.connect()
    try:
        return int(connection.status(name)[name])
    finally:
        connection.close()


def listed(viewer: Any, instance: Any) -> list[dict[str, Any]]:
    answer = viewer.get(f"/api/v1/instances/{instance.name}/near-caches")
    assert answer.status_code == 200, answer.content
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def polled(viewer: Any, instance: Any, connections: Connections, at: int, *states: str) -> list[dict[str, Any]]:
    """Runs rounds of polls, a second apart from `at` on, until the instance's near caches have these states, and
    returns them.

    On a busy machine a lease of 100 ms may be late.
    """
    moments = count(at)

    def found() -> bool:
        polling.poll_round(next(moments), connections)
        return [each["state"] for each in listed(viewer, instance)] == [*states]

    until(found, f"the near caches are {states}")
    return listed(viewer, instance)


def test_what_is_attached_is_listed_counted_and_missed_when_it_goes(
    server: Any, connections: Connections, viewer: Any
) -> None:
    instance = reached(server)
    polling.poll_round(T, connections)
    assert listed(viewer, instance) == []
    with FakeNearCache(server, "shop-1", counts=(7, 4096, 30, 10)) as near, FakeNearCache(server, "shop-2"):
        until(lambda: told(server, "Fqc_near_hits") == 30, "what it counted is known")
        polling.poll_round(T + 15, connections)
        latest = Latest.objects.get(instance=instance).growth
        assert METRICS["near_hit_ratio"].value(latest) == 75
        assert METRICS["near_caches"].value(latest) == 2
        first, second = polled(viewer, instance, connections, T + 16, "serving", "serving")
        assert (first["name"], second["name"]) == ("shop-1", "shop-2")
        assert (first["address"], first["protocol"]) == ("127.0.0.1", 1)
        assert (first["entries"], first["stored_bytes"], first["hits"], first["misses"]) == (7, 4096, 30, 10)
        near.drop()
        until(lambda: told(server, "Fqc_near_detached") == 1, "it is missed")
        polled(viewer, instance, connections, T + 30_000, "detached", "serving")
    until(lambda: told(server, "Fqc_near_caches") == 0, "the other one has left")
    polling.poll_round(T + 45_000, connections)
    latest = Latest.objects.get(instance=instance).growth
    assert [METRICS[name].value(latest) for name in ("near_caches", "near_caches_detached")] == [0, 1]


def test_one_that_comes_back_is_listed_once(server: Any, connections: Connections, viewer: Any) -> None:
    instance = reached(server)
    with FakeNearCache(server, "shop-1") as near:
        polling.poll_round(T, connections)
        near.drop()
        until(lambda: told(server, "Fqc_near_caches") == 0, "it is gone")
        polling.poll_round(T + 15, connections)
    with FakeNearCache(server, "shop-1"):
        [only] = polled(viewer, instance, connections, T + 30, "serving")
        assert only["attachment"] > 1
        assert told(server, "Fqc_near_detached") == 0


def test_of_a_server_that_does_not_respond_none_is_said_to_serve(
    server: Any, connections: Connections, viewer: Any
) -> None:
    instance = reached(server)
    with FakeNearCache(server, "shop-1"):
        polled(viewer, instance, connections, T, "serving")
        type(instance).objects.filter(pk=instance.pk).update(state="unreachable")
        [only] = listed(viewer, instance)
        assert (only["state"], only["obstacle"]) == ("waiting", "its server does not respond")


def test_one_that_is_attached_while_the_servers_cache_is_off_serves_nothing_and_says_why(
    server: Any, connections: Connections, viewer: Any
) -> None:
    instance = reached(server)
    with FakeNearCache(server, "shop-1"):
        [only] = polled(viewer, instance, connections, T, "serving")
        assert only["obstacle"] == ""
        type(instance).objects.filter(pk=instance.pk).update(cache_type="OFF")
        [only] = polled(viewer, instance, connections, T + 15, "waiting")
        assert only["obstacle"] == "the server's cache is off"


def test_one_whose_servers_cache_only_observes_serves_nothing_and_says_so_in_the_servers_words(
    server: Any, connections: Connections, viewer: Any
) -> None:
    instance = reached(server)
    with FakeNearCache(server, "shop-1"):
        polled(viewer, instance, connections, T, "serving")
        owner = server.connect()
        for statement in ("SET GLOBAL fqc_observe = ON", "SET GLOBAL query_cache_type = OFF"):
            owner.run(statement)
        owner.close()
        [only] = polled(viewer, instance, connections, T + 15, "waiting")
        assert only["obstacle"] == "the server's cache only observes"
