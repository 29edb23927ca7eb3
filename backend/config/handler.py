"""Django's request handler with another use of threads.

A request gets one thread for its middleware and view, all of which are synchronous; Django would switch between that
thread and the event loop. Django would also keep the thread until the last byte was sent, so that a thousand event
streams would be a thousand waiting threads. Threads are reused for later requests, and only a limited number of
requests is at work at a time (`core/request_slots.py`).
"""

from __future__ import annotations

import asyncio
import contextvars
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import ThreadSensitiveContext
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.core.signals import request_started
from django.db import close_old_connections, reset_queries
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from controlplane.core import error_views
from controlplane.core.errors import Busy
from controlplane.core.request_slots import REQUEST_SLOT, RequestSlot, RequestSlots

# Health checks are answered even while the process is too busy for anything else.
ALWAYS_ANSWERED = ("/healthz", "/readyz")
# More threads than requests that are at work at a time: one that waits for a managed server keeps its thread only.
THREADS_PER_SLOT = 10


class Handler(ASGIHandler):
    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        # Django would run these in one thread for all requests, which has no connection. Each request's own thread runs
        # them instead.
        for receiver in (reset_queries, close_old_connections):
            request_started.disconnect(receiver)
        self._slots = RequestSlots(settings.REQUESTS_AT_ONCE)
        self._threads = ThreadPoolExecutor(settings.REQUESTS_AT_ONCE * THREADS_PER_SLOT, "request")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise ValueError(f"only HTTP is served here, not {scope['type']}")
        await self.handle(scope, receive, send)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        try:
            place = None if request.path in ALWAYS_ANSWERED else await self._slots.take()
        except Busy as busy:
            return error_views.busy(busy)
        working = self._threads.submit(contextvars.copy_context().run, self._response, request, place)
        if place:  # also if the client left before the request was started
            working.add_done_callback(lambda _: place.give_back())
        return await asyncio.wrap_future(working)

    async def send_response(self, response: HttpResponseBase, send: Any) -> None:
        if response.headers.get("Content-Type") == "text/event-stream":
            await super().send_response(response, send)  # Django manages the threads here itself
            return
        async with ThreadSensitiveContext():  # one thread for the rest of the answer, for example of an export
            await super().send_response(response, send)

    def _response(self, request: HttpRequest, place: RequestSlot | None) -> HttpResponseBase:
        REQUEST_SLOT.set(place)
        reset_queries()
        try:
            return self.get_response(request)
        finally:
            close_old_connections()
