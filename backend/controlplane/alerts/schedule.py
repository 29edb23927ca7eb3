from typing import Any

SCHEDULE: dict[str, Any] = {
    "alerts.evaluate": {"task": "alerts.evaluate", "schedule": 5.0, "options": {"expires": 5}},
    "alerts.send_mails": {"task": "alerts.send_mails", "schedule": 5.0, "options": {"expires": 10}},
    "alerts.notify": {"task": "alerts.notify", "schedule": 5.0, "options": {"expires": 10}},
    "alerts.expire": {"task": "alerts.expire", "schedule": 3600.0},
}
