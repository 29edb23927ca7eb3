from typing import Any

SCHEDULE: dict[str, Any] = {"core.expire": {"task": "core.expire", "schedule": 600.0}}
