"""Instances whose answers come too late.

A round waits for its slowest instance, so one that is always late would hold up the whole fleet. Each time that it is
late it is skipped for a while, twice as long as the time before.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Lock

FIRST_SECONDS, MOST_SECONDS = 15.0, 3600.0
FORGIVEN_SECONDS = 3600.0  # so long after its last pause, an instance's next pause is a first one again


@dataclass(frozen=True)
class _Pause:
    seconds: float
    until: float  # when the pause ends, on the monotonic clock


class SkippedInstances:
    """The instances that are skipped for a while because they answered too late, by id. Thread-safe."""

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
