"""Celery's scheduler, which goes on after the clock was set back, and after its broker was restarted.

Celery keeps when each entry ran last, and a queue of when each runs next, by the wall clock: set back by an hour, it
would schedule nothing for that hour. Here such a jump is noticed against the clock that only counts, and both are set
anew. A jump forward needs nothing: everything is due once.

Celery keeps one connection to the broker for good. What Redis is told by, reaches a server that was restarted; one to
RabbitMQ would fail for ever. Here one that has failed is left, and the next entry waits for another.
"""

from __future__ import annotations

import time
from typing import Any

import structlog
from celery.beat import PersistentScheduler, SchedulingError

log = structlog.get_logger(__name__)
JUMP_SECONDS = 1.0


class Scheduler(PersistentScheduler):
    def __init__(self, *arguments: Any, **facts: Any) -> None:
        self._offset = _offset()
        super().__init__(*arguments, **facts)

    def setup_schedule(self) -> None:
        super().setup_schedule()
        self._start_anew()  # the clock may have been set back while no scheduler ran

    def tick(self, *arguments: Any, **facts: Any) -> Any:
        offset = _offset()
        if offset < self._offset - JUMP_SECONDS:
            self._start_anew()
        self._offset = offset
        return super().tick(*arguments, **facts)

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Told in one line: entries are due every few seconds, and a broker may be away for hours."""
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError as error:
            log.error("not_scheduled", task=entry.task, error=str(error))

    def apply_async(self, *arguments: Any, **facts: Any) -> Any:
        try:
            return super().apply_async(*arguments, **facts)
        except SchedulingError:
            self._leave_connection()
            raise

    def _leave_connection(self) -> None:
        """Both are made again by whoever asks for them next."""
        self.__dict__.pop("producer", None)
        connection = self.__dict__.pop("connection", None)
        if connection is not None:
            connection.collect()  # without a word: there may be nobody to say it to

    def _start_anew(self) -> None:
        now = self.app.now()
        for entry in self.schedule.values():
            entry.last_run_at = min(entry.last_run_at, now)
        self._heap = None  # it is built again at the next tick


def _offset() -> float:
    return time.time() - time.monotonic()
