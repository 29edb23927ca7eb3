"""The phases of a rule on one instance, as tables of evaluations: the samples, the resulting phase, and the report."""

from __future__ import annotations

import pytest

from controlplane.alerts.phases import Condition, RuleState, is_broken, step

BELOW_50 = Condition("lt", 50, for_seconds=600, minimum_traffic=1, reminder_seconds=3600)
BAD, GOOD, UNKNOWN = True, False, None


def told(condition: Condition, looks: list[tuple[float, bool | None]]) -> list[tuple[float, str]]:
    """Returns the transitions that a rule reports, with their times.

    `looks` are evaluations: the time in seconds, and whether the condition holds then (None: unknown). Samples have no
    gaps.
    """
    stand, found, before = RuleState(), [], looks[0][0]
    for now, broken in looks:
        stand, transition = step(stand, condition, broken, now - before)
        before = now
        if transition:
            found.append((now, transition))
    return found


@pytest.mark.parametrize(
    ("looks", "transitions"),
    [
        pytest.param([(0, BAD), (599, BAD)], [], id="not yet for long enough"),
        pytest.param([(0, BAD), (600, BAD)], [(600, "opened")], id="opens after its time"),
        pytest.param([(0, BAD), (300, GOOD), (600, BAD), (1199, BAD)], [], id="a good look starts over"),
        pytest.param([(0, BAD), (300, UNKNOWN), (600, BAD)], [], id="no data holds no condition"),
        pytest.param(
            [(0, BAD), (300, BAD), (600, UNKNOWN), (900, BAD)], [(900, "opened")], id="no data breaks no condition"
        ),
        pytest.param([(0, BAD), (600, BAD), (900, BAD)], [(600, "opened")], id="opens once"),
        pytest.param(
            [(0, BAD), (600, BAD), (4199, BAD), (4200, BAD), (5000, BAD)],
            [(600, "opened"), (4200, "reminded")],
            id="reminds after its interval",
        ),
        pytest.param(
            [(0, BAD), (600, BAD), (700, GOOD), (999, GOOD), (1000, GOOD)],
            [(600, "opened"), (1000, "resolved")],
            id="resolves after five good minutes",
        ),
        pytest.param(
            [(0, BAD), (600, BAD), (700, GOOD), (900, BAD), (1000, GOOD), (1299, GOOD)],
            [(600, "opened")],
            id="hovering around the threshold stays one incident",
        ),
        pytest.param(
            [(0, BAD), (600, BAD), (700, GOOD), (5000, UNKNOWN)],
            [(600, "opened")],
            id="silence of the server does not resolve",
        ),
        pytest.param(
            [(0, BAD), (600, BAD), (700, GOOD), (1000, GOOD), (1100, BAD), (1700, BAD)],
            [(600, "opened"), (1000, "resolved"), (1700, "opened")],
            id="may open again",
        ),
    ],
)
def test_transitions(looks: list[tuple[float, bool | None]], transitions: list[tuple[float, str]]) -> None:
    assert told(BELOW_50, looks) == transitions


@pytest.mark.parametrize(
    ("stand", "broken"),
    [(RuleState("pending", 585), BAD), (RuleState("open", 3585), BAD), (RuleState("open", 0, 285), GOOD)],
)
def test_looking_again_without_a_new_sample_is_no_evidence(stand: RuleState, broken: bool) -> None:
    assert step(stand, BELOW_50, broken, 0) == (stand, None)
    assert step(stand, BELOW_50, broken, 15)[1] is not None


def test_at_once_and_without_reminders() -> None:
    condition = Condition("gt", 5, for_seconds=0, minimum_traffic=0, reminder_seconds=0)
    assert told(condition, [(0, BAD), (99999, BAD), (100000, GOOD)]) == [(0, "opened"), (100000, "resolved")]


@pytest.mark.parametrize(
    ("comparison", "value", "broken"),
    [
        ("lt", 49.9, True), ("lt", 50, False), ("le", 50, True), ("le", 50.1, False),
        ("gt", 50.1, True), ("gt", 50, False), ("ge", 50, True), ("ge", 49.9, False), ("lt", None, None),
    ],
)  # fmt: skip
def test_comparisons(comparison: str, value: float | None, broken: bool | None) -> None:
    assert is_broken(Condition(comparison, 50, 0, 0, 0), value, None) is broken


@pytest.mark.parametrize(("traffic", "broken"), [(0.99, False), (1.0, True), (None, True)])
def test_too_little_traffic_is_no_breach(traffic: float | None, broken: bool) -> None:
    assert is_broken(BELOW_50, 10, traffic) is broken


def test_too_little_traffic_is_judged_before_a_missing_value() -> None:
    """With too little traffic a rule is not broken, even if its metric has no value: a ratio has none without
    lookups.
    """
    assert is_broken(BELOW_50, None, 0) is False
