from typing import Any

SCHEDULE: dict[str, Any] = {"core.kept_answers_expire": {"task": "core.kept_answers_expire", "schedule": 3600.0}}
