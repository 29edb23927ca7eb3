from typing import Any

SCHEDULE: dict[str, Any] = {
    "changes.sweep": {"task": "changes.sweep", "schedule": 5.0, "options": {"expires": 15.0}},
}
