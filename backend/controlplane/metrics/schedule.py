"""When beat knocks. Polling asks every 2 s whether a round is due; how often one is, is a setting."""

from typing import Any

SCHEDULE: dict[str, Any] = {
    # A message that nobody took in time is worthless: the next one follows.
    "metrics.poll": {"task": "metrics.poll", "schedule": 2.0, "options": {"expires": 10}},
    "metrics.rollup": {"task": "metrics.rollup", "schedule": 60.0, "options": {"expires": 60}},
    "metrics.expire": {"task": "metrics.expire", "schedule": 3600.0},
}
