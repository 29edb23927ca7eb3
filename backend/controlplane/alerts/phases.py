"""The phases of a rule on one instance: ok -> pending -> open -> (reminded) -> resolved. Pure.

Missing data changes nothing: a server that does not answer neither breaks a rule nor resolves an incident. With too
little traffic the rule is not broken. An open incident resolves only after the condition has been false for a while, so
a value that hovers around the threshold opens one incident, not twenty. No clock is used, so a jump of the clock makes
nothing last longer or shorter; except for a state whose beginning is stored, which has lasted since then.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass

OK, PENDING, OPEN = "ok", "pending", "open"
OPENED, REMINDED, RESOLVED = "opened", "reminded", "resolved"
LONGEST_RECOVERY_SECONDS = 300
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


@dataclass(frozen=True)
class Condition:
    comparison: str
    threshold: float
    for_seconds: int
    minimum_traffic: float
    reminder_seconds: int


@dataclass(frozen=True)
class RuleState:
    """The state of a rule on an instance. Durations are seconds covered by samples, not read from a clock.

    Of a state whose beginning is stored, the duration before an incident opens is read from a clock.
    """

    phase: str = OK
    # How long the condition has held; in the phase open, since the last report.
    broken_seconds: float = 0
    # How long the condition has not held, in the phase open; None if it holds, and in other phases.
    good_seconds: float | None = None


def is_broken(condition: Condition, value: float | None, traffic: float | None) -> bool | None:
    """Returns whether the condition holds for this value, that is, whether the rule is broken; None if it cannot be
    judged because the value is unknown.

    With less than the minimum traffic it is not.
    """
    if condition.minimum_traffic > 0 and traffic is not None and traffic < condition.minimum_traffic:
        return False
    if value is None:
        return None
    return COMPARISONS[condition.comparison](value, condition.threshold)


# Advances a rule's state by one evaluation. The first sample that shows a breach, or its end, only marks the start;
# its own interval does not count.
def step(
    stand: RuleState,
    condition: Condition,
    broken: bool | None,
    seen_seconds: float,
    lasted_seconds: float | None = None,
) -> tuple[RuleState, str | None]:
    """Returns the state that follows, and the transition to report (None: none).

    `broken` says whether the condition holds now (None: unknown, nothing changes); `seen_seconds` is the time that new
    samples cover. `lasted_seconds` is for how long the condition has held, if that is known without counting samples.
    """
    if broken is None:
        return stand, None
    if stand.phase == OPEN:
        return _while_open(stand, condition, broken, seen_seconds)
    if not broken:
        return RuleState(), None
    held = stand.broken_seconds + seen_seconds if stand.phase == PENDING else 0
    if lasted_seconds is not None:
        held = lasted_seconds
    if held >= condition.for_seconds:
        return RuleState(OPEN), OPENED
    return RuleState(PENDING, held), None


def _while_open(
    stand: RuleState, condition: Condition, broken: bool, seen_seconds: float
) -> tuple[RuleState, str | None]:
    if not broken:
        good = 0 if stand.good_seconds is None else stand.good_seconds + seen_seconds
        if good >= min(condition.for_seconds, LONGEST_RECOVERY_SECONDS):
            return RuleState(), RESOLVED
        return RuleState(OPEN, stand.broken_seconds, good), None
    held = stand.broken_seconds + (stand.good_seconds or 0) + seen_seconds
    if condition.reminder_seconds and held >= condition.reminder_seconds:
        return RuleState(OPEN), REMINDED
    return RuleState(OPEN, held), None
