from typing import Any

SCHEDULE: dict[str, Any] = {
    "rollouts.sweep": {"task": "rollouts.sweep", "schedule": 10.0, "options": {"expires": 20.0}},
}
