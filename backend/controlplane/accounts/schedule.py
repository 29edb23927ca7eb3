from typing import Any

SCHEDULE: dict[str, Any] = {
    "accounts.confirm": {"task": "accounts.confirm", "schedule": 5.0},
    "accounts.expire": {"task": "accounts.expire", "schedule": 3600.0},
}
