import asyncio

import pytest

from controlplane.core.event_stream import LATE, Seen, stream
from controlplane.core.events import event_publish


async def first(seen, topics, count):
    found = []
    async for text in stream(seen, topics):
        found += [line for line in text.splitlines() if line.startswith("data:")]
        if len(found) >= count:
            return found
    return found


@pytest.mark.django_db(transaction=True)
def test_topics_narrow_the_stream():
    event_publish("samples", "fleet", {})
    event_publish("incident", "inc-1", {})
    found = asyncio.run(asyncio.wait_for(first(Seen(0), ["incident"], 1), 10))
    assert len(found) == 1 and "inc-1" in found[0]


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
