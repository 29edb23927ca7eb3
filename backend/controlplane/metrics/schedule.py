"""Schedule of the metrics tasks.

`look` only has to start the looks at the servers; the polling interval is a setting.
"""

from typing import Any

SCHEDULE: dict[str, Any] = {
    # A message that was not taken in time is useless, since the next one follows.
    "metrics.look": {"task": "metrics.look", "schedule": 2.0, "options": {"expires": 10}},
    "metrics.rollup": {"task": "metrics.rollup", "schedule": 60.0, "options": {"expires": 60}},
    "metrics.expire": {"task": "metrics.expire", "schedule": 3600.0},
}
