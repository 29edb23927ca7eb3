"""One periodic query for all event streams of a process: new events, and readers who have lost their access.

A waiting stream needs no thread and no connection. The queries have one thread and one connection, as long as there are
streams. The connection is not part of the pool, so the queries never wait for others. Streams that must query the
database themselves do so a few at a time.
"""

from __future__ import annotations

import asyncio
import copy
import json
import time
from collections.abc import AsyncIterator, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import structlog
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.db import DatabaseError, connection, connections
from django.db.utils import load_backend

from controlplane.core.event_seen import AT_ONCE, Seen, unseen, up_to_now
from controlplane.core.events import event_payloads
from controlplane.core.models import Event
from controlplane.core.stream_credentials import Holder, still_valid

log = structlog.get_logger(__name__)
T = TypeVar("T")
LOOK_EVERY_SECONDS = 0.5
LOOKING_UP_AT_ONCE = 4
MOST_UNSENT = 2 * AT_ONCE  # events waiting for one slow stream; beyond that the stream queries the database itself
FAILING_SECONDS = 30  # then all streams end, because it is unknown who may still receive events


@dataclass(frozen=True)
class News:
    event: Event
    data: str  # the event as JSON, for readers who named no instances


class Reader:
    """One event stream to a client, and the events that it has not sent yet."""

    def __init__(self, holder: Holder) -> None:
        self.holder = holder
        self.is_over = self.is_behind = False
        self._unsent: list[News] = []
        self._woken = asyncio.Event()

    def tell(self, news: list[News]) -> None:
        self._unsent += news
        if len(self._unsent) > MOST_UNSENT:
            self._unsent, self.is_behind = [], True
        self._woken.set()

    def end(self) -> None:
        self.is_over = True
        self._woken.set()

    async def wait(self, seconds: float) -> list[News]:
        """Waits up to `seconds` and returns the new events, maybe none, for the stream to send.

        If `is_behind` is set, events were dropped and must be queried; if `is_over` is set, the stream must end.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        self._woken.clear()
        unsent, self._unsent = self._unsent, []
        return unsent


class Hub:
    def __init__(self) -> None:
        self._readers: set[Reader] = set()
        self._looking: asyncio.Task[None] | None = None
        self._has_begun = asyncio.Event()
        self._places = asyncio.Semaphore(LOOKING_UP_AT_ONCE)

    @asynccontextmanager
    async def reading(self, holder: Holder) -> AsyncIterator[Reader]:
        """Registers a reader, who then receives all events committed from now on, until the block ends.

        The caller must query earlier ones itself.
        """
        reader = Reader(holder)
        self._readers.add(reader)
        if self._looking is None:
            self._has_begun = asyncio.Event()
            self._looking = asyncio.create_task(self._look_on(self._has_begun))
        try:
            await self._has_begun.wait()
            yield reader
        finally:
            self._readers.discard(reader)
            if not self._readers and self._looking:
                self._looking.cancel()
                self._looking = None

    async def looked_up(self, function: Callable[..., T], *arguments: Any) -> T:
        """Calls `function`, which may use the database, in a thread that ends with the call, and returns its result.

        Only LOOKING_UP_AT_ONCE calls run at a time; others wait.
        """
        async with self._places, ThreadSensitiveContext():
            return await sync_to_async(function)(*arguments)

    async def _look_on(self, has_begun: asyncio.Event) -> None:
        thread = ThreadPoolExecutor(1, "events", initializer=_own_connection)
        try:
            await self._look_in(thread, has_begun)
        finally:
            thread.submit(connection.close)
            thread.shutdown(wait=False)
            has_begun.set()
            if self._looking is asyncio.current_task():  # this task failed, it was not cancelled
                self._looking = None
                self._end(self._readers)

    async def _look_in(self, thread: ThreadPoolExecutor, has_begun: asyncio.Event) -> None:
        loop, seen, worked = asyncio.get_running_loop(), None, time.monotonic()
        while time.monotonic() - worked < FAILING_SECONDS:
            holders = {reader.holder for reader in self._readers}
            try:
                if seen is None:
                    seen = await loop.run_in_executor(thread, up_to_now)
                    has_begun.set()
                news, standing = await loop.run_in_executor(thread, poll_events, seen, holders)
            except DatabaseError as error:
                log.warning("event_poll_failed", reason=str(error))
                await loop.run_in_executor(thread, connection.close)
            else:
                worked = time.monotonic()
                self._end({each for each in self._readers if each.holder in holders - standing})
                if news:
                    for reader in self._readers:
                        reader.tell(news)
            await asyncio.sleep(LOOK_EVERY_SECONDS)

    def _end(self, readers: Collection[Reader]) -> None:
        for reader in readers:
            reader.end()


def poll_events(seen: Seen, holders: set[Holder]) -> tuple[list[News], set[Holder]]:
    events = unseen(seen)
    told = event_payloads(events, ())
    for event in events:
        seen.add(event.pk)
    news = [News(event, json.dumps(says)) for event, says in zip(events, told, strict=True)]
    return news, still_valid(holders)


def _own_connection() -> None:
    """Replaces this thread's database connection by one outside the pool, so that it never waits for others."""
    facts = copy.deepcopy(connections.settings["default"])
    facts["OPTIONS"].pop("pool", None)
    connections["default"] = load_backend(facts["ENGINE"]).DatabaseWrapper(facts, "default")


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """Returns the hub of the running event loop. A web process has one loop."""
    return _hubs.setdefault(asyncio.get_running_loop(), Hub())
