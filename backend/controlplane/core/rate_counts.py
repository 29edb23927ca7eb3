"""Counts what callers did in the last minute, over all web processes.

The counts are rows. A process adds to them in batches, and reads then what the others counted. Most callers never fill
a batch and cost no query. A limit may be exceeded by one batch per process, which is a hundredth of it. The count of
the previous minute fades as the present one passes, so that no caller gets twice the limit around a full minute.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import F

from controlplane.core.models import RateCount

WINDOW_SECONDS = 60
BATCHES_PER_LIMIT = 100
MOST_NAMES = 10_000


@dataclass
class Tally:
    window: int
    before: float = 0  # the count of the previous window
    shared: int = 0  # the count of all processes in this window, as last read
    unsent: int = 0  # counted here since then, and not added to the shared count yet

    def total(self, now: float) -> float:
        left = 1 - now % WINDOW_SECONDS / WINDOW_SECONDS
        return self.before * left + self.shared + self.unsent


class RateCounts:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tallies: dict[str, Tally] = {}

    def is_within(self, name: str, limit: int, now: float) -> bool:
        """Counts one more call for `name` and returns true, or returns false if it has reached the limit per minute.

        Refused calls do not count. `now` is in epoch seconds.
        """
        batch = max(1, limit // BATCHES_PER_LIMIT)
        with self._lock:
            tally = self._tally(name, int(now // WINDOW_SECONDS))
            if tally.total(now) >= limit:
                return False
            tally.unsent += 1
            count = tally.unsent if tally.unsent >= batch else 0
            tally.unsent -= count
            tally.shared += count
        if count:
            tally.before, tally.shared = _exchanged(name, tally.window, count)
        return tally.total(now) <= limit

    def _tally(self, name: str, window: int) -> Tally:
        tally = self._tallies.get(name)
        if tally is None or tally.window != window:
            if len(self._tallies) >= MOST_NAMES:
                self._tallies = {key: kept for key, kept in self._tallies.items() if kept.window >= window - 1}
            follows = tally is not None and tally.window == window - 1
            tally = Tally(window, before=tally.shared + tally.unsent if tally and follows else 0)
            self._tallies[name] = tally
        return tally

    def forget(self) -> None:
        with self._lock:
            self._tallies = {}


def _exchanged(name: str, window: int, count: int) -> tuple[int, int]:
    """Adds `count` to the stored count of this window.

    Returns the counts of all processes in the previous window and in this one.
    """
    count_add(name, window, count)
    rows = RateCount.objects.filter(name=name, window__in=(window - 1, window))
    found = dict(rows.values_list("window", "count"))
    return found.get(window - 1, 0), found.get(window, 0)


def count_add(name: str, window: int, count: int) -> None:
    row = RateCount.objects.filter(name=name, window=window)
    if row.update(count=F("count") + count):
        return
    try:
        with transaction.atomic():
            RateCount.objects.create(name=name, window=window, count=count)
    except IntegrityError:  # another process made the row first
        row.update(count=F("count") + count)


RATE_COUNTS = RateCounts()
