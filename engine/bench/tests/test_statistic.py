import pytest

from driver.statistic import DifferentConditions, Series, Spread, crossing, ratio

CONDITIONS = {"threads": 8, "cache_mb": 512, "options": {"rand-type": "uniform"}}


def series(configuration, *values, **conditions):
    return Series(configuration, {**CONDITIONS, **conditions}, dict(enumerate(values, 1)), noisy_above=0.2)


def test_a_spread_has_median_and_range():
    spread = Spread((3.0, 1.0, 2.0, 10.0, 2.5), 0.2)
    assert (spread.median, spread.low, spread.high) == (2.5, 1.0, 10.0)


@pytest.mark.parametrize(
    ("values", "doubt"),
    [
        ((100.0, 105.0, 95.0), None),
        ((100.0, 130.0, 95.0), "too noisy"),
        ((100.0, 100.0), "too few rounds"),
    ],
)
def test_a_wide_range_or_too_few_rounds_make_a_result_doubtful(values, doubt):
    assert Spread(values, 0.2).doubt == doubt


def test_ratios_are_taken_round_by_round():
    # The machine got slower by half in the second round: for both, so the ratio stays.
    found = ratio(series("FQC", 200.0, 100.0, 220.0), series("OFF", 100.0, 50.0, 100.0))
    assert (found.median, found.low, found.high) == (2.0, 2.0, 2.2)


@pytest.mark.parametrize(
    "difference",
    [{"threads": 64}, {"options": {"rand-type": "special"}}, {"ps_mode": "auto"}],
)
def test_no_ratio_of_runs_under_different_conditions(difference):
    with pytest.raises(DifferentConditions, match=next(iter(difference))):
        ratio(series("FQC", 2.0, 2.0, 2.0, **difference), series("OFF", 1.0, 1.0, 1.0))


def test_no_ratio_when_a_round_is_missing():
    with pytest.raises(DifferentConditions, match="rounds"):
        ratio(series("FQC", 2.0, 2.0, 2.0), series("OFF", 1.0, 1.0))


@pytest.mark.parametrize(
    ("points", "at"),
    [
        ([(0, 0.8), (50, 1.2), (100, 2.0)], 25.0),
        ([(0, 1.1), (50, 0.9)], 0),
        ([(0, 0.5), (100, 0.9)], None),
    ],
)
def test_the_break_even_lies_on_the_line_between_two_points(points, at):
    assert crossing(points, 1.0) == pytest.approx(at)
