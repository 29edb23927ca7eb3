"""Celery's scheduler, made to continue after the clock was set back and after its broker was restarted.

Celery stores the time of each entry's last run, and a queue of the next runs, by the wall clock: if that is set back by
an hour, it would schedule nothing for an hour. This class detects such a jump with the monotonic clock, and resets
both. A jump forward needs no reset: every entry is due once.

Celery keeps one connection to the broker. Redis connections recover after a restart of the server, but a connection to
RabbitMQ would fail for ever. This class drops a failed connection, and the next entry opens another.
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
        """Sends one due task.

        Logs a failure as one line, because entries are due every few seconds and a broker may be down for hours.
        """
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
        """Drops producer and connection to the broker after a failure; both are made again when they are next used."""
        self.__dict__.pop("producer", None)
        connection = self.__dict__.pop("connection", None)
        if connection is not None:
            connection.collect()  # closes without sending anything, since the broker may be gone

    def _start_anew(self) -> None:
        now = self.app.now()
        for entry in self.schedule.values():
            entry.last_run_at = min(entry.last_run_at, now)
        self._heap = None  # rebuilt at the next tick


def _offset() -> float:
    return time.time() - time.monotonic()
