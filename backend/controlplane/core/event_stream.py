"""Server-sent events: what happens, as it happens. A browser that reconnects goes on after the last id it saw."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from controlplane.core.errors import Invalid
from controlplane.core.models import Event
from controlplane.core.views import ApiView

LOOK_EVERY_SECONDS = 0.5
KEEP_ALIVE_SECONDS = 15
LONGEST_SECONDS = 600  # then the browser reconnects, and is authenticated anew
AT_ONCE = 500
LATE = 50


class AnyAccept(DefaultContentNegotiation):
    """EventSource asks for text/event-stream, which no renderer of the framework offers."""

    def select_renderer(self, request: Request, renderers: list, format_suffix: str | None = None) -> tuple:  # type: ignore[type-arg]
        return JSONRenderer(), "application/json"


def last_id(request: Request) -> int:
    text = request.headers.get("Last-Event-ID") or request.query_params.get("after")
    if text is None:
        newest = Event.objects.order_by("-id").values_list("id", flat=True).first()
        return newest or 0
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise Invalid.field("after", "write the id of an event")
    return int(text)


def fetch(after: int, topics: list[str]) -> list[Event]:
    """Holds no connection between two looks: a hundred open browsers must not use up the database's."""
    found = Event.objects.filter(id__gt=after)
    try:
        return list((found.filter(topic__in=topics) if topics else found).order_by("id")[:AT_ONCE])
    finally:
        close_old_connections()


def frame(event: Event) -> str:
    data = {"topic": event.topic, "subject": event.subject, "at": event.created_at.isoformat(), **event.facts}
    return f"id: {event.pk}\nevent: {event.topic}\ndata: {json.dumps(data)}\n\n"


async def stream(after: int, topics: list[str]) -> AsyncIterator[str]:
    yield "retry: 2000\n\n"
    started = told = time.monotonic()
    seen: deque[int] = deque(range(after - LATE + 1, after + 1), maxlen=2 * AT_ONCE)
    while time.monotonic() - started < LONGEST_SECONDS:
        # A transaction that began early may commit late: ids just below the last one are looked at again.
        found = await sync_to_async(fetch)(max(seen) - LATE, topics)
        events = [event for event in found if event.pk not in seen]
        if events:
            seen.extend(event.pk for event in events)
            told = time.monotonic()
            yield "".join(map(frame, events))
        elif time.monotonic() - told > KEEP_ALIVE_SECONDS:
            told = time.monotonic()
            yield ": still here\n\n"
        await asyncio.sleep(LOOK_EVERY_SECONDS)


class EventStream(ApiView):
    content_negotiation_class = AnyAccept

    @extend_schema(
        operation_id="events_stream",
        parameters=[
            OpenApiParameter("after", OpenApiTypes.INT, description="Go on after this event; so does Last-Event-ID."),
            OpenApiParameter("topic", OpenApiTypes.STR, many=True, description="Only these: change, fleet_apply, ..."),
        ],
        responses={(200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR)},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Server-sent events: changes, fleet applies, instances, samples and incidents as they happen."""
        events = stream(last_id(request), request.query_params.getlist("topic"))
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingHttpResponse(events, content_type="text/event-stream", headers=headers)
