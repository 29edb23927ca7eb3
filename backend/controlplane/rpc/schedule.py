from typing import Any

SCHEDULE: dict[str, Any] = {"rpc.expire": {"task": "rpc.expire", "schedule": 600.0}}
