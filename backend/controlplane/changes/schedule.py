from typing import Any

SCHEDULE: dict[str, Any] = {
    "changes.watch": {"task": "changes.watch", "schedule": 5.0, "options": {"expires": 10.0}},
    "changes.sweep": {"task": "changes.sweep", "schedule": 5.0, "options": {"expires": 15.0}},
}
