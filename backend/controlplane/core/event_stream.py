"""Server-sent events. A browser that reconnects continues after the last event that it received."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import close_old_connections
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from controlplane.core.errors import Invalid
from controlplane.core.event_hub import News, hub
from controlplane.core.event_seen import AT_ONCE, Seen, unseen, up_to_now
from controlplane.core.event_serializers import EVENT
from controlplane.core.events import TOPICS, event_payloads, has_computed_facts, is_about
from controlplane.core.models import Event
from controlplane.core.stream_credentials import Holder, holder_of
from controlplane.core.views import AnyAccept, ApiView

KEEP_ALIVE_SECONDS = 15
LONGEST_SECONDS = 600  # then the browser reconnects and is authenticated again
MOST_INSTANCES = 200


def begin(request: Request) -> Seen:
    header, parameter = request.headers.get("Last-Event-ID"), request.query_params.get("after")
    if not (text := header or parameter):
        return up_to_now()
    seen = Seen.read(text)
    if seen is None:
        raise Invalid.field("Last-Event-ID" if header else "after", "write the id of an event as it was sent")
    return seen


@dataclass(frozen=True)
class Wanted:
    """The filters of a client's event stream: topics and instance ids (empty: all of them).

    The stream ends after `seconds`, or with 0 once it has sent what is stored.
    """

    topics: frozenset[str] = frozenset()
    instances: frozenset[str] = frozenset()
    seconds: float = LONGEST_SECONDS

    @classmethod
    def read(cls, request: Request) -> Wanted:
        given = WantedSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        named = frozenset(each.strip() for each in given.validated_data["instances"].split(",") if each.strip())
        if len(named) > MOST_INSTANCES:
            raise Invalid.field("instances", f"name at most {MOST_INSTANCES}")
        return cls(frozenset(request.query_params.getlist("topic")), named, given.validated_data["seconds"])

    def __contains__(self, event: Event) -> bool:
        return (not self.topics or event.topic in self.topics) and is_about(event, self.instances)


class WantedSerializer(serializers.Serializer[Any]):
    """The query parameters of an event stream, except `topic`, which may be repeated."""

    instances = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=MOST_INSTANCES * 32,
        help_text=f"Up to {MOST_INSTANCES} ids, separated by commas: of what happens to single instances only to "
        "these, and the values of their samples.",
    )
    seconds = serializers.IntegerField(
        min_value=0,
        max_value=LONGEST_SECONDS,
        default=LONGEST_SECONDS,
        help_text="The number of seconds after which the stream ends and must be opened again. With 0 it ends once"
        " all stored events are sent.",
    )


def fetch(seen: Seen, wanted: Wanted) -> list[tuple[Event, str | None]]:
    """Reads the next events that are not in `seen` from the database, each with its text for the stream, or None if the
    reader did not ask for it.
    """
    try:
        return payloads_of(unseen(seen), wanted)
    finally:
        close_old_connections()


def payloads_of(events: list[Event], wanted: Wanted) -> list[tuple[Event, str | None]]:
    asked = [event for event in events if event in wanted]
    told = map(json.dumps, event_payloads(asked, wanted.instances))
    texts = dict(zip([event.pk for event in asked], told, strict=True))
    return [(event, texts.get(event.pk)) for event in events]


def frames(events: Iterable[tuple[Event, str | None]], seen: Seen) -> Iterator[str]:
    """Yields the events as text of the stream.

    Each event comes with its data, or with None if the reader did not ask for it; it is then not in the stream, but
    added to `seen` like the others. Each text has the id that a reader sends to continue after a broken connection.
    """
    for event, data in events:
        seen.add(event.pk)
        if data is not None:
            yield f"id: {seen}\nevent: {event.topic}\ndata: {data}\n\n"


EVERYTHING = Wanted()


async def stream(seen: Seen, wanted: Wanted = EVERYTHING, holder: Holder = None) -> AsyncIterator[str]:
    # An id without data: a reader that loses its connection before the first event comes back with this id.
    yield f"retry: 2000\nid: {seen}\n\n"
    told = time.monotonic()
    ends = told + wanted.seconds
    if not wanted.seconds:
        async for text in stored_frames(seen, wanted):
            yield text
        return
    async with hub().reading(holder) as reader:
        reader.is_behind = True  # the reader must first get the earlier events from the database
        while not reader.is_over and (left := ends - time.monotonic()) > 0:
            if reader.is_behind:
                reader.is_behind = False
                async for text in stored_frames(seen, wanted):
                    yield text
            news = await reader.wait(min(left, told + KEEP_ALIVE_SECONDS - time.monotonic()))
            if reader.is_over:  # events that arrive with the end are not sent any more
                return
            if text := "".join(
                frames(await reader_payloads([each for each in news if each.event.pk not in seen], wanted), seen)
            ):
                told = time.monotonic()
                yield text
            elif time.monotonic() - told >= KEEP_ALIVE_SECONDS:
                told = time.monotonic()
                yield f": still here\nid: {seen}\n\n"


async def stored_frames(seen: Seen, wanted: Wanted) -> AsyncIterator[str]:
    """Yields, as text of the stream, all stored events that are not in `seen`, and adds them to it."""
    while events := await hub().looked_up(fetch, seen, wanted):
        if text := "".join(frames(events, seen)):
            yield text
        if len(events) < AT_ONCE:
            return


async def reader_payloads(news: list[News], wanted: Wanted) -> list[tuple[Event, str | None]]:
    """Returns each event with its text for this reader, or None if it did not ask for it.

    The database is only queried for values of instances that the reader named.
    """
    if wanted.instances and any(has_computed_facts(each.event.topic) for each in news):
        return await hub().looked_up(payloads_in_thread, [each.event for each in news], wanted)
    return [(each.event, each.data if each.event in wanted else None) for each in news]


def payloads_in_thread(events: list[Event], wanted: Wanted) -> list[tuple[Event, str | None]]:
    try:
        return payloads_of(events, wanted)
    finally:
        close_old_connections()


class EventStream(ApiView):
    content_negotiation_class = AnyAccept

    @extend_schema(
        operation_id="events_stream",
        parameters=[
            OpenApiParameter(
                "after",
                OpenApiTypes.STR,
                description="Continue after the event with this id, as the header Last-Event-ID does.",
            ),
            OpenApiParameter(
                "topic", OpenApiTypes.STR, many=True, enum=TOPICS, description="Only events of these topics."
            ),
            WantedSerializer,
        ],
        responses={
            (200, "text/event-stream"): OpenApiResponse(
                EVENT, description="A stream of events. The data of each event is one of these schemas."
            )
        },
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Streams server-sent events about changes, fleet applies, instances, samples and incidents as they happen."""
        events = stream(begin(request), Wanted.read(request), holder_of(request))
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingHttpResponse(events, content_type="text/event-stream", headers=headers)
