"""Server-sent events: what happens, as it happens. A browser that reconnects goes on after what it saw."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from controlplane.core.errors import Invalid
from controlplane.core.event_serializers import EVENT
from controlplane.core.events import TOPICS, events_told, is_about
from controlplane.core.models import Event
from controlplane.core.views import AnyAccept, ApiView

LOOK_EVERY_SECONDS = 0.5
KEEP_ALIVE_SECONDS = 15
LONGEST_SECONDS = 600  # then the browser reconnects, and is authenticated anew
AT_ONCE = 500
MOST_INSTANCES = 200
LATE = 50  # how far below the newest id one may still come
WRITTEN = re.compile(rf"[0-9]{{1,18}}(\.[0-9]{{1,2}}){{0,{LATE}}}")


@dataclass
class Seen:
    """Which events a reader has: all up to `newest`, but `missing`, which may be on their way or of nobody.

    A transaction that began early may commit late: its event has a lower id than those that were told before it. So
    what a reader brings back has to say what it has not seen, or such an event would be lost, or others come twice.
    """

    newest: int
    missing: set[int] = field(default_factory=set)

    @classmethod
    def read(cls, text: str) -> Seen | None:
        if not WRITTEN.fullmatch(text):
            return None
        newest, *below = map(int, text.split("."))
        return cls(newest, {newest - each for each in below})

    def __str__(self) -> str:
        return ".".join(map(str, [self.newest, *sorted(self.newest - each for each in self.missing)]))

    def __contains__(self, number: int) -> bool:
        return number <= self.newest and number not in self.missing

    def add(self, number: int) -> None:
        self.missing.discard(number)
        self.missing |= set(range(max(self.newest + 1, number - LATE), number))
        self.newest = max(self.newest, number)
        self.missing = {each for each in self.missing if each >= self.newest - LATE}


def begin(request: Request) -> Seen:
    header, parameter = request.headers.get("Last-Event-ID"), request.query_params.get("after")
    if not (text := header or parameter):
        return _up_to_now()
    seen = Seen.read(text)
    if seen is None:
        raise Invalid.field("Last-Event-ID" if header else "after", "write the id of an event as it was sent")
    return seen


def _up_to_now() -> Seen:
    seen = Seen(0)
    for number in reversed(Event.objects.order_by("-id").values_list("id", flat=True)[: LATE + 1]):
        seen.add(number)
    return seen


@dataclass(frozen=True)
class Wanted:
    """What a reader asked for. Empty: all."""

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
    """Beside `topic`, which may be said several times."""

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
        help_text="When the stream ends, to be opened anew; 0: once it has told what there is.",
    )


def fetch(seen: Seen, wanted: Wanted) -> list[tuple[Event, dict[str, Any] | None]]:
    """What the reader has not seen, and what to say of it if it asked for that.

    Holds no connection between two looks: a hundred open browsers must not use up the database's.
    """
    try:
        found = Event.objects.filter(id__gt=seen.newest - LATE - 1).order_by("id")[: LATE + AT_ONCE]
        new = [event for event in found if event.pk not in seen]
        asked = [event for event in new if event in wanted]
        told = dict(zip([event.pk for event in asked], events_told(asked, wanted.instances), strict=True))
        return [(event, told.get(event.pk)) for event in new]
    finally:
        close_old_connections()


def frames(events: list[tuple[Event, dict[str, Any] | None]], seen: Seen) -> Iterator[str]:
    """Each with the id of what its reader has seen then; what it did not ask for counts as seen."""
    for event, told in events:
        seen.add(event.pk)
        if told is not None:
            yield f"id: {seen}\nevent: {event.topic}\ndata: {json.dumps(told)}\n\n"


EVERYTHING = Wanted()


async def stream(seen: Seen, wanted: Wanted = EVERYTHING) -> AsyncIterator[str]:
    # An id without data: a reader that loses its connection before the first event comes back with it.
    yield f"retry: 2000\nid: {seen}\n\n"
    started = told = time.monotonic()
    while True:
        events = await sync_to_async(fetch)(seen, wanted)
        if text := "".join(frames(events, seen)):
            told = time.monotonic()
            yield text
        elif time.monotonic() - told > KEEP_ALIVE_SECONDS:
            told = time.monotonic()
            yield f": still here\nid: {seen}\n\n"
        if len(events) < AT_ONCE:
            if time.monotonic() - started >= wanted.seconds:
                return
            await asyncio.sleep(LOOK_EVERY_SECONDS)


class EventStream(ApiView):
    content_negotiation_class = AnyAccept

    @extend_schema(
        operation_id="events_stream",
        parameters=[
            OpenApiParameter(
                "after", OpenApiTypes.STR, description="Go on after the event of this id; as Last-Event-ID does."
            ),
            OpenApiParameter("topic", OpenApiTypes.STR, many=True, enum=TOPICS, description="Only these."),
            WantedSerializer,
        ],
        responses={
            (200, "text/event-stream"): OpenApiResponse(EVENT, description="The data of each event is one of these.")
        },
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Server-sent events: changes, fleet applies, instances, samples and incidents as they happen."""
        events = stream(begin(request), Wanted.read(request))
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingHttpResponse(events, content_type="text/event-stream", headers=headers)
