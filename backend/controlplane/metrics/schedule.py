"""When beat knocks. Looking at the servers needs a knock only to begin; how often they are polled, is a setting."""

from typing import Any

SCHEDULE: dict[str, Any] = {
    # A message that nobody took in time is worthless: the next one follows.
    "metrics.look": {"task": "metrics.look", "schedule": 2.0, "options": {"expires": 10}},
    "metrics.rollup": {"task": "metrics.rollup", "schedule": 60.0, "options": {"expires": 60}},
    "metrics.expire": {"task": "metrics.expire", "schedule": 3600.0},
}
