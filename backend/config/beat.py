"""Celery's scheduler, which goes on after the clock was set back.

Celery keeps when each entry ran last, and a queue of when each runs next, by the wall clock: set back by an hour, it
would schedule nothing for that hour. Here such a jump is noticed against the clock that only counts, and both are set
anew. A jump forward needs nothing: everything is due once.
"""

from __future__ import annotations

import time
from typing import Any

from celery.beat import PersistentScheduler

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

    def _start_anew(self) -> None:
        now = self.app.now()
        for entry in self.schedule.values():
            entry.last_run_at = min(entry.last_run_at, now)
        self._heap = None  # it is built again at the next tick


def _offset() -> float:
    return time.time() - time.monotonic()
