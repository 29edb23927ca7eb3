from typing import Any

SCHEDULE: dict[str, Any] = {"audit.expire": {"task": "audit.expire", "schedule": 3600.0}}
