"""Django's way to answer requests, but for whose the threads are.

A request has one thread for as long as its middleware and its view work, all of which are synchronous; Django would
send it to and fro between that thread and the loop. And it would have the thread until the last byte has left by
Django's way: a thousand event streams would be a thousand threads that wait.
"""

from __future__ import annotations

from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.db import close_old_connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class Handler(ASGIHandler):
    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise ValueError(f"only HTTP is served here, not {scope['type']}")
        await self.handle(scope, receive, send)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        async with ThreadSensitiveContext():
            return await sync_to_async(self._response)(request)

    async def send_response(self, response: HttpResponseBase, send: Any) -> None:
        if response.headers.get("Content-Type") == "text/event-stream":
            await super().send_response(response, send)  # which looks after its threads itself
            return
        async with ThreadSensitiveContext():  # one thread for what is still to be read, as of an export
            await super().send_response(response, send)

    def _response(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return self.get_response(request)
        finally:
            close_old_connections()
