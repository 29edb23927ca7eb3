"""Limits the size of request bodies before the sender is authenticated.

Django writes a whole body to disk before it authenticates the sender. A body that declares a length above the limit is
not read at all; Django refuses it where the view reads it, with that view's error. A body without a declared length is
read up to the limit and refused here.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Application = Callable[[dict[str, Any], Receive, Any], Awaitable[None]]


class TooLong(Exception):
    pass


class BoundedBodies:
    def __init__(self, application: Application, most_bytes: int, refusal: Callable[[], dict[str, Any]]) -> None:
        self.application, self.most_bytes, self.refusal = application, most_bytes, refusal

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Any) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        try:
            await self.application(scope, self._bounded(scope, receive), send)
        except TooLong:
            await _send_refusal(send, self.refusal())

    def _bounded(self, scope: dict[str, Any], receive: Any) -> Receive:
        return _skipping(receive) if _declared_bytes(scope) > self.most_bytes else _counting(receive, self.most_bytes)


def _skipping(receive: Receive) -> Receive:
    """Returns a `receive` that presents an empty body to the application, discards what arrives, and only passes on the
    disconnect.
    """
    is_told = False

    async def skipping() -> Message:
        nonlocal is_told
        if not is_told:
            is_told = True
            return {"type": "http.request", "body": b"", "more_body": False}
        while (message := await receive())["type"] != "http.disconnect":
            pass
        return message

    return skipping


def _counting(receive: Receive, left: int) -> Receive:
    async def counting() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise TooLong
        return message

    return counting


def _declared_bytes(scope: dict[str, Any]) -> int:
    return max((int(value) for name, value in scope["headers"] if name == b"content-length"), default=0)


async def _send_refusal(send: Any, problem: dict[str, Any]) -> None:
    """Answers with the problem details and lets the server close the connection, because the rest of the body may still
    arrive on it.
    """
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": problem["status"], "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(problem).encode()})
