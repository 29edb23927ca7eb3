import asyncio

import pytest

from controlplane.core.event_stream import stream
from controlplane.core.events import event_publish
from controlplane.core.models import Event


async def first(after, topics, count):
    found = []
    async for text in stream(after, topics):
        found += [line for line in text.splitlines() if line.startswith("data:")]
        if len(found) >= count:
            return found
    return found


@pytest.mark.django_db(transaction=True)
def test_a_browser_that_comes_back_gets_what_it_missed():
    for number in range(3):
        event_publish("change", f"chg-{number}", {"state": "applied"})
    seen = Event.objects.order_by("id").first().pk
    found = asyncio.run(asyncio.wait_for(first(seen, [], 2), 10))
    assert len(found) == 2 and "chg-1" in found[0] and "chg-2" in found[1]


@pytest.mark.django_db(transaction=True)
def test_topics_narrow_the_stream():
    event_publish("samples", "fleet", {})
    event_publish("incident", "inc-1", {})
    found = asyncio.run(asyncio.wait_for(first(0, ["incident"], 1), 10))
    assert len(found) == 1 and "inc-1" in found[0]


@pytest.mark.django_db
def test_the_stream_is_for_those_who_are_logged_in(outsider, viewer):
    assert outsider.get("/api/v1/events").status_code == 401
    answer = viewer.get("/api/v1/events", HTTP_ACCEPT="text/event-stream")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/event-stream")
    assert viewer.get("/api/v1/events?after=x").status_code == 400
