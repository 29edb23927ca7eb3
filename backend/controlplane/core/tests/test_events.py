import asyncio
import json

import pytest

from controlplane.core.event_seen import LATE, Seen
from controlplane.core.event_stream import Wanted, stream
from controlplane.core.events import event_publish


async def told(seen, wanted):
    """Returns the parsed data of all stored events that are not in `seen` and that `wanted` includes."""
    found = []
    async for text in stream(seen, wanted):
        found += [json.loads(line.removeprefix("data:")) for line in text.splitlines() if line.startswith("data:")]
    return found


def told_now(**wanted):
    return asyncio.run(told(Seen(0), Wanted(seconds=0, **wanted)))


@pytest.mark.django_db(transaction=True)
def test_topics_narrow_the_stream():
    event_publish("instance", "rm-1", {})
    event_publish("incident", "inc-1", {})
    assert [event["subject"] for event in told_now(topics=frozenset({"incident"}))] == ["inc-1"]


@pytest.mark.django_db(transaction=True)
def test_instances_narrow_what_happens_to_one_of_them():
    event_publish("change", "chg-1", {"instance": "rm-1"})
    event_publish("change", "chg-2", {"instance": "rm-2"})
    event_publish("instance", "rm-1", {})
    event_publish("instance", "rm-2", {})
    event_publish("incident", "inc-2", {"instance_id": "rm-2"})
    event_publish("fleet_apply", "fap-1", {})
    found = [event["subject"] for event in told_now(instances=frozenset({"rm-1"}))]
    assert found == ["chg-1", "rm-1", "fap-1"]


def test_an_id_says_all_that_was_seen_and_reads_back():
    seen = Seen(10)
    for number in (11, 15, 13):
        seen.add(number)
    assert str(seen) == "15.1.3"
    assert Seen.read(str(seen)) == seen
    assert [number for number in range(9, 18) if number not in seen] == [12, 14, 16, 17]


def test_what_never_comes_is_not_waited_for_for_ever():
    seen = Seen(10)
    for number in (12, 12 + LATE, 13 + 2 * LATE):
        seen.add(number)
    assert min(seen.missing) == seen.newest - LATE
    assert Seen.read(str(seen)) == seen


@pytest.mark.django_db
def test_the_stream_is_for_those_who_are_logged_in(outsider, viewer):
    assert outsider.get("/api/v1/events").status_code == 401
    answer = viewer.get("/api/v1/events", HTTP_ACCEPT="text/event-stream")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/event-stream")


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["x", "1.", "1.2.x", "-1", "1.100", "9" * 19])
def test_what_was_never_an_id_is_refused_by_its_name(viewer, text):
    for field, answer in (
        ("after", viewer.get("/api/v1/events", {"after": text})),
        ("Last-Event-ID", viewer.get("/api/v1/events", HTTP_LAST_EVENT_ID=text)),
    ):
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"seconds": "601"}, "seconds"),
        ({"seconds": "x"}, "seconds"),
        ({"instances": ",".join(f"rm-{number}" for number in range(201))}, "instances"),
        ({"topic": "weather"}, "topic"),
    ],
)
def test_what_cannot_be_streamed_is_refused_by_its_name(viewer, query, field):
    answer = viewer.get("/api/v1/events", query)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)
