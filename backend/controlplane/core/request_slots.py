"""How many requests a web process works on at a time.

One process computes one answer at a time, so more requests at once would not end sooner. A request waits for a place
before it has a thread, and is refused with 429 if none is free in time. It keeps its place until its answer is made, or
until it waits for something other than the database (`core/connections.py`): a managed server that is slow must not
take places from requests that do not need it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar

from controlplane.core.errors import Busy

WAIT_SECONDS = 1.0


class RequestSlot:
    """One of the places for requests that a web process works on at a time.

    It must be given back once, may be given back early and from any thread, and giving it back again does nothing.
    """

    def __init__(self, release: Callable[[], None]) -> None:
        self._release, self._loop = release, asyncio.get_running_loop()
        self._is_taken = True

    def give_back(self) -> None:
        if self._is_taken:
            self._is_taken = False
            self._loop.call_soon_threadsafe(self._release)


class RequestSlots:
    def __init__(self, count: int) -> None:
        self._free = asyncio.Semaphore(count)

    async def take(self) -> RequestSlot:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._free.acquire()
        except TimeoutError as error:
            raise Busy("Too many requests at once; this one was not started: try again.") from error
        return RequestSlot(self._free.release)


# The place of the running request. None in workers and commands, and for health checks.
REQUEST_SLOT: ContextVar[RequestSlot | None] = ContextVar("place", default=None)
