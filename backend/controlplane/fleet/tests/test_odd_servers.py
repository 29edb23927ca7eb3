"""Servers that answer at random run next to a healthy one in every lane. `python -m odd` does the same for longer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from config.celery import app
from controlplane.fleet.lookout import LOOKOUT
from controlplane.fleet.states import Duty
from odd.lanes import LANES, Figures, Lane, register
from odd.server import OddServer
from testing.servers import servers

ROUNDS = {"watch": 2}  # each of its rounds starts a server
USUAL_ROUNDS = 12


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Any, Any]]:
    """Yields two local servers: a healthy one with the engine, and one without it that a test may kill."""
    with servers() as make:
        yield make(has_engine=True), make()


@pytest.mark.django_db
@pytest.mark.parametrize("lane_class", LANES, ids=lambda lane_class: lane_class.name)
def test_odd_servers_cost_a_healthy_one_nothing(pair: tuple[Any, Any], lane_class: type[Lane]) -> None:
    odd, figures = [OddServer(seed, slowest_seconds=0.05) for seed in range(3)], Figures()
    lane = lane_class(register(pair[0], odd, pair[1]), seed=1)
    try:
        lane.begin()
        for _ in range(ROUNDS.get(lane.name, USUAL_ROUNDS)):
            lane.step(figures)
    finally:
        lane.close()
        for each in odd:
            each.close()
    assert figures.losses == []
    assert sum(each.answered for each in odd) > figures.rounds, "they were asked"


def test_each_duty_has_its_lane() -> None:
    app.loader.import_default_modules()
    looks = {duty.__name__ for duties in LOOKOUT.lanes.values() for duty in duties}
    assert looks == set().union(*(lane.looks for lane in LANES))
    assert set(Duty) == set().union(*(lane.duties for lane in LANES))
