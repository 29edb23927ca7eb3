"""The tasks that the scheduler sends are known to workers, and what they do keeps to the scheduler's period."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from config.celery import app
from controlplane.alerts import evaluation, tasks
from controlplane.alerts import schedule as alerts
from controlplane.core import clock
from controlplane.metrics import schedule as metrics


def test_every_scheduled_task_exists() -> None:
    app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in {**metrics.SCHEDULE, **alerts.SCHEDULE}.values()}
    assert scheduled <= set(app.tasks)
    assert scheduled <= {entry["task"] for entry in app.conf.beat_schedule.values()}


@pytest.mark.django_db
def test_each_task_of_the_scheduler_evaluates_also_if_it_comes_a_bit_early(monkeypatch: pytest.MonkeyPatch) -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    evaluated: list[float] = []
    monkeypatch.setattr(evaluation, "evaluate", evaluated.append)
    for seconds in (0, 0.5, 5, 9.8, 15, 15.1):
        monkeypatch.setattr(clock, "shared_time", lambda now=began + seconds: now)
        tasks.evaluate()
    assert [at - began for at in evaluated] == pytest.approx([0, 5, 9.8, 15])
    assert alerts.SCHEDULE["alerts.evaluate"]["schedule"] == evaluation.LOOK_SECONDS
