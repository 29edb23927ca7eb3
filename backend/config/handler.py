"""Django's way to answer requests, but for whose the threads are.

A request has one thread for as long as its middleware and its view work, all of which are synchronous; Django would
send it to and fro between that thread and the loop. And it would have the thread until the last byte has left by
Django's way: a thousand event streams would be a thousand threads that wait. Threads are kept for later requests, and
only so many requests are at work at a time (`core/places.py`).
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
from controlplane.core.places import PLACE, Place, Places

# Whether the process lives and can work is answered also while it is too busy for anything else.
ALWAYS_ANSWERED = ("/healthz", "/readyz")
THREADS_PER_PLACE = 10  # what waits for a managed server has a thread, and no place


class Handler(ASGIHandler):
    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        # They would run in one thread for all requests, which has no connection; each request's own thread does this.
        for receiver in (reset_queries, close_old_connections):
            request_started.disconnect(receiver)
        self._places = Places(settings.REQUESTS_AT_ONCE)
        self._threads = ThreadPoolExecutor(settings.REQUESTS_AT_ONCE * THREADS_PER_PLACE, "request")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise ValueError(f"only HTTP is served here, not {scope['type']}")
        await self.handle(scope, receive, send)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        try:
            place = None if request.path in ALWAYS_ANSWERED else await self._places.take()
        except Busy as busy:
            return error_views.busy(busy)
        working = self._threads.submit(contextvars.copy_context().run, self._response, request, place)
        if place:  # also of a request whose client left before it was begun
            working.add_done_callback(lambda _: place.give_back())
        return await asyncio.wrap_future(working)

    async def send_response(self, response: HttpResponseBase, send: Any) -> None:
        if response.headers.get("Content-Type") == "text/event-stream":
            await super().send_response(response, send)  # which looks after its threads itself
            return
        async with ThreadSensitiveContext():  # one thread for what is still to be read, as of an export
            await super().send_response(response, send)

    def _response(self, request: HttpRequest, place: Place | None) -> HttpResponseBase:
        PLACE.set(place)
        reset_queries()
        try:
            return self.get_response(request)
        finally:
            close_old_connections()
