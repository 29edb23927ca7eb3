from typing import Any

SCHEDULE: dict[str, Any] = {"accounts.expire": {"task": "accounts.expire", "schedule": 3600.0}}
