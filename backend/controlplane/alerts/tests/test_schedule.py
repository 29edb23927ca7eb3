"""The tasks that the scheduler sends are known to workers."""

from __future__ import annotations

from config.celery import app
from controlplane.alerts import schedule as alerts
from controlplane.metrics import schedule as metrics


def test_every_scheduled_task_exists() -> None:
    app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in {**metrics.SCHEDULE, **alerts.SCHEDULE}.values()}
    assert scheduled <= set(app.tasks)
    assert scheduled <= {entry["task"] for entry in app.conf.beat_schedule.values()}
