"""The scheduler as a real process, whose clock is set back: periodic work goes on."""

import json
from contextlib import closing

import pytest

from config import beat as beats
from config.celery import app
from testing.workers import until

OFTEN = {"metrics.look", "changes.sweep"}


@pytest.fixture
def queue(tmp_path):
    return tmp_path / "run" / "broker" / "queue"


def tasks(messages):
    return {json.loads(message.read_text())["headers"]["task"] for message in messages}


@pytest.mark.django_db(transaction=True)
def test_a_clock_that_is_set_back_by_hours_stops_nothing(beat, clock, tmp_path, queue):
    beat(clock.python(), FQC_RUN_DIR=str(tmp_path / "run"))
    until(lambda: tasks(queue.glob("*.msg")) >= OFTEN, "the scheduler sends what is due often")
    seen = set(queue.glob("*.msg"))
    clock.jump(-2 * 3600)
    until(lambda: tasks(set(queue.glob("*.msg")) - seen) >= OFTEN, "it goes on after the jump")
    seen = set(queue.glob("*.msg"))
    clock.jump(2 * 3600)
    until(lambda: tasks(set(queue.glob("*.msg")) - seen) >= OFTEN, "and after one forward")


def test_a_clock_that_is_set_back_in_the_middle_of_a_tick_is_noticed_soon(clock, tmp_path, monkeypatch):
    sent = []
    monkeypatch.setattr(beats.Scheduler, "apply_async", lambda self, entry, **facts: sent.append(entry.task))
    offset = beats._offset

    def offset_before_the_jump():
        before = offset()
        clock.jump(-2 * 3600)
        return before

    with closing(beats.Scheduler(app, schedule_filename=str(tmp_path / "schedule"))) as scheduler:
        scheduler.tick()
        monkeypatch.setattr(beats, "_offset", offset_before_the_jump)
        assert scheduler.tick() <= 5, "it sleeps because the clock was set back"
        monkeypatch.setattr(beats, "_offset", offset)
        scheduler.tick()
        clock.jump(60 - 2 * 3600)
        while scheduler.tick() == 0:
            pass
        assert set(sent) >= OFTEN, "a minute after the jump"


def test_a_broker_that_takes_nothing_is_told_in_one_line_for_each_task(beat, tmp_path, queue, capfd):
    beat(FQC_RUN_DIR=str(tmp_path / "run"), FQC_LOG_LEVEL="ERROR")
    until(lambda: tasks(queue.glob("*.msg")) >= OFTEN, "the scheduler sends what is due often")
    away = queue.rename(queue.with_name("away"))
    queue.touch()  # a file in place of the broker's folder, so nothing can be delivered
    told = ""

    def has_told_enough():
        nonlocal told
        told += "".join(capfd.readouterr())
        return told.count("not_scheduled") > 2 * len(OFTEN)

    until(has_told_enough, "the scheduler says what it could not send, and goes on")
    assert "Traceback" not in told
    queue.unlink()
    away.rename(queue)
    for message in queue.glob("*.msg"):
        message.unlink()
    until(lambda: tasks(queue.glob("*.msg")) >= OFTEN, "it sends what is due once it can")
