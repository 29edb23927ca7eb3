"""Instances whose answers come too late.

A round waits for its slowest instance, so one that is always late would hold up the whole fleet. Each time that it is
late it is left out of rounds for a while, and each while is twice as long as the one before.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Lock

FIRST_SECONDS, MOST_SECONDS = 15.0, 3600.0
FORGIVEN_SECONDS = 3600.0  # after it was last left out


@dataclass(frozen=True)
class _Pause:
    seconds: float
    until: float  # by the clock that only counts


class Latecomers:
    """Remembers by id which instances are left out, and until when. It is safe for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pauses: dict[str, _Pause] = {}

    def note(self, instance_id: str) -> None:
        now = time.monotonic()
        with self._lock:
            self._pauses = {key: each for key, each in self._pauses.items() if now < each.until + FORGIVEN_SECONDS}
            before = self._pauses.get(instance_id)
            seconds = min(2 * before.seconds, MOST_SECONDS) if before else FIRST_SECONDS
            self._pauses[instance_id] = _Pause(seconds, now + seconds)

    def is_out(self, instance_id: str) -> bool:
        found = self._pauses.get(instance_id)
        return found is not None and time.monotonic() < found.until
