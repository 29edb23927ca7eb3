"""The scheduler as a real process, whose clock is set back: periodic work goes on."""

import json

import pytest

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
