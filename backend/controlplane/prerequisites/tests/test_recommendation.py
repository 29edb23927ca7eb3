"""The hit ratio in the sentence equals that of the curve next to it, whatever the counters counted before."""

import pytest

from controlplane.prerequisites.recommendation import ObservedReads, recommendation
from controlplane.prerequisites.status import Curve

MIB = 1024**2
CURVE = Curve([(MIB, 0.2), (8 * MIB, 0.447), (64 * MIB, 0.8)])


def counted(**more):
    return ObservedReads(requests=10000, hits=7900, microseconds=7_900_000, seconds=1000, **more)


def told(seen, *, is_on):
    return recommendation(seen, has_engine=True, takes_engine=True, is_on=is_on, is_observing=False)


def test_the_sentence_has_the_ratio_of_the_curve_and_not_that_of_an_older_past():
    found = told(counted(predicted=CURVE.ratio_at(8 * MIB)), is_on=False)
    assert found["hit_ratio"] == 0.447 and "45 % of reads would hit" in found["text"]


def test_a_size_is_suggested_once_enough_was_seen():
    assert told(counted(size_bytes=8 * MIB), is_on=False)["size_bytes"] == 8 * MIB
    few = ObservedReads(requests=10, hits=9, microseconds=0, seconds=1000, size_bytes=8 * MIB)
    assert told(few, is_on=False)["size_bytes"] is None


def test_time_saved_is_told_for_the_hits_that_are_told():
    assert counted().saved_cores == pytest.approx(0.0079)
    assert counted(predicted=0.395).saved_cores == pytest.approx(0.0079 / 2)
    assert ObservedReads(0, 0, 0, 1000, predicted=0.5).saved_cores == 0


def test_a_cache_that_paid_once_and_does_no_longer_is_to_be_reconsidered():
    poor = ObservedReads(requests=10000, hits=500, microseconds=0, seconds=3600)
    assert told(poor, is_on=True)["verdict"] == "reconsider"
    assert told(counted(), is_on=True)["verdict"] == "keep"


def test_a_size_between_two_points_has_the_ratio_of_the_nearer():
    assert (CURVE.ratio_at(8 * MIB + 1024), CURVE.ratio_at(60 * MIB)) == (0.447, 0.8)
    assert Curve([]).ratio_at(MIB) is None


@pytest.mark.parametrize(("takes_engine", "verdict"), [(True, "no_engine"), (False, "no_engine_there")])
def test_the_engine_is_recommended_only_where_it_can_be_loaded(takes_engine, verdict):
    found = recommendation(None, has_engine=False, takes_engine=takes_engine, is_on=False, is_observing=False)
    assert found["verdict"] == verdict
    assert ("Install the engine" in found["text"]) == takes_engine
