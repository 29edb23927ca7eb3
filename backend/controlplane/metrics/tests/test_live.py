"""Live samples: a reader of events has the figures without asking again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from controlplane.core.event_seen import Seen
from controlplane.core.event_stream import Wanted, fetch
from controlplane.fleet.kept_connections import Connections
from controlplane.metrics import polling
from controlplane.metrics.definitions import METRICS
from controlplane.metrics.tests.fleet import instance_make
from testing.clients import client_as

pytestmark = pytest.mark.django_db(transaction=True)
T = 1_800_000_000


@pytest.fixture
def streamed(web: Callable[..., str]) -> Callable[..., list[dict[str, Any]]]:
    """Returns a function that reads all stored events about samples from a web process, filtered by `query`, and
    returns their parsed data.
    """
    url, client = web(), client_as("viewer")

    def read(**query: str) -> list[dict[str, Any]]:
        address = f"{url}/api/v1/events?{urlencode({'after': '0', 'seconds': '0', 'topic': 'samples', **query})}"
        headers = {"Authorization": client._credentials["HTTP_AUTHORIZATION"]}
        with urlopen(Request(address, headers=headers), timeout=120) as answer:
            lines = answer.read().decode().splitlines()
        return [json.loads(line.removeprefix("data:")) for line in lines if line.startswith("data:")]

    return read


@pytest.fixture
def instances(shared_server: Any, connections: Connections) -> list[Any]:
    """Returns two instances, both the shared server, which were polled twice with traffic in between."""
    made = [
        instance_make(port=shared_server.port, username=shared_server.username, password=shared_server.password)
        for _ in range(2)
    ]
    polling.poll_round(T, connections)
    connection = shared_server.connect()
    for _ in range(20):
        connection.rows("SELECT 1 FROM mysql.user LIMIT 1")
    connection.close()
    polling.poll_round(T + 15, connections)
    return made


def test_an_event_has_the_values_that_the_charts_have(streamed: Any, instances: list[Any]) -> None:
    named = instances[0].pk
    first, second = streamed(instances=named)
    assert (first["sampled_at"], second["sampled_at"], second["answered"]) == (T, T + 15, 2)
    values = second["values"][named]
    assert second["values"].keys() == {named}
    assert values.keys() == METRICS.keys()
    query = {"from": "2027-01-15T08:00:00Z", "to": "2027-01-15T08:00:30Z", "names": "selects_per_second,connections"}
    charts = client_as("viewer").get(f"/api/v1/instances/{named}/metrics", query).json()
    at = charts["times"].index(T + 15)
    for series in charts["series"]:
        assert values[series["name"]] == pytest.approx(series["values"][at]), series["name"]
    assert values["selects_per_second"] > 0


def test_the_fleets_values_are_those_of_all_that_answered(streamed: Any, instances: list[Any]) -> None:
    stopped = instance_make(state="stopped")
    named = [stopped.pk, "rm-unknown", *(each.pk for each in instances)]
    event = streamed(instances=",".join(named))[-1]
    assert event["values"].keys() == {each.pk for each in instances}
    one, other = event["values"].values()
    assert event["fleet"].keys() == METRICS.keys()
    assert event["fleet"]["connections"] == one["connections"] + other["connections"]
    assert event["fleet"]["selects_per_second"] > max(one["selects_per_second"], other["selects_per_second"])
    assert "values" not in streamed()[-1]


def test_the_values_of_missed_rounds_cost_one_statement(
    instances: list[Any], connections: Connections, django_assert_num_queries: Any
) -> None:
    polling.poll_round(T + 30, connections)
    with django_assert_num_queries(2):
        found = fetch(Seen(0), Wanted(instances=frozenset({instances[0].pk})))
    assert [json.loads(told)["values"].keys() for _, told in found if told] == [{instances[0].pk}] * 3
