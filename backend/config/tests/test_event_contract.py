"""The data of events of each topic, as the product makes them, is compared with the contract."""

import json

import jsonschema
import pytest

from controlplane.alerts.tests.test_evaluation import watch
from controlplane.core import event_stream
from controlplane.core.event_seen import Seen
from controlplane.core.event_stream import Wanted, fetch, frames
from controlplane.core.events import TOPICS
from controlplane.fleet.kept_connections import Connections
from controlplane.metrics import polling
from controlplane.parameters.services import template_create
from testing.answers import contract
from testing.changes import changed

CONTRACT = contract()
SCHEMAS = CONTRACT["components"]["schemas"]
ANSWER = CONTRACT["paths"]["/api/v1/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]["schema"]


def data_of(instances):
    """Returns the parsed data of every stored event as the stream sends it to a reader who names these instances."""
    text = "".join(frames(fetch(Seen(0), Wanted(instances=frozenset(instances))), Seen(0)))
    return [json.loads(line.removeprefix("data:")) for line in text.splitlines() if line.startswith("data:")]


def faults(data):
    validator = jsonschema.Draft202012Validator({**ANSWER, "components": CONTRACT["components"]})
    found = [error.message for error in validator.iter_errors(data)]
    mapping = SCHEMAS["Streamed"]["discriminator"]["mapping"]
    named = SCHEMAS[mapping[data["topic"]].rsplit("/", 1)[1]]["properties"]
    return found + [f"{name} is not in the contract" for name in data.keys() - named.keys()]


@pytest.fixture
def happened(operator, instance, monkeypatch):
    """Causes an event of every topic, in the test's transaction, and returns the instance.

    Reading events does not close the connection meanwhile.
    """
    monkeypatch.setattr(event_stream, "close_old_connections", lambda: None)
    changed(instance, {"long_query_time": "2"})
    template_create(name="slow-log", engine_line="5.7", values={"long_query_time": "3"})
    assert operator.post("/api/v1/fleet-applies", {"template": "slow-log", "every": True}).status_code < 300
    connections = Connections()
    polling.poll_round(1_800_000_000, connections)
    connections.keep_only(())
    assert watch(instance, 11, hits=10, lookups=100) == 1
    return instance


@pytest.mark.django_db
def test_every_event_says_what_the_contract_says_and_no_more(happened):
    events = data_of([happened.pk])
    assert {data["topic"] for data in events} == set(TOPICS)
    assert {data["topic"]: faults(data) for data in events if faults(data)} == {}
    assert any(data.get("values") for data in events)


@pytest.mark.django_db
def test_an_event_that_differs_is_noticed(happened):
    samples = next(data for data in data_of([happened.pk]) if data["topic"] == "samples")
    assert faults({**samples, "sampled_at": "noon"}) and faults({**samples, "extra": 1})
    assert faults({name: value for name, value in samples.items() if name != "fleet"})
