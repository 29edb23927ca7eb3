"""A rule on one instance: ok -> pending -> open -> (reminded) -> resolved. Pure.

No data changes nothing: a server that does not answer neither breaks a rule nor mends it. Too little traffic counts as
no breach. An open incident resolves only after the condition has been gone for a while, so a value that hovers around
the threshold opens one incident, not twenty. No clock is asked: one that jumps makes nothing last longer or shorter.
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
class Stand:
    """How long is counted in seconds of samples that were seen, not read off a clock."""

    phase: str = OK
    broken_seconds: float = 0  # in a row; once open: since it was told last
    good_seconds: float | None = None  # in a row, while open


def is_broken(condition: Condition, value: float | None, traffic: float | None) -> bool | None:
    """None: cannot be judged."""
    if condition.minimum_traffic > 0 and traffic is not None and traffic < condition.minimum_traffic:
        return False
    if value is None:
        return None
    return COMPARISONS[condition.comparison](value, condition.threshold)


# The sample that shows a breach first, or that it is gone, says when that began, not that it lasted.
def step(stand: Stand, condition: Condition, broken: bool | None, seen_seconds: float) -> tuple[Stand, str | None]:
    """The next stand, and the transition to tell of, if any. `seen_seconds`: covered by samples since the last look."""
    if broken is None:
        return stand, None
    if stand.phase == OPEN:
        return _while_open(stand, condition, broken, seen_seconds)
    if not broken:
        return Stand(), None
    held = stand.broken_seconds + seen_seconds if stand.phase == PENDING else 0
    if held >= condition.for_seconds:
        return Stand(OPEN), OPENED
    return Stand(PENDING, held), None


def _while_open(stand: Stand, condition: Condition, broken: bool, seen_seconds: float) -> tuple[Stand, str | None]:
    if not broken:
        good = 0 if stand.good_seconds is None else stand.good_seconds + seen_seconds
        if good >= min(condition.for_seconds, LONGEST_RECOVERY_SECONDS):
            return Stand(), RESOLVED
        return Stand(OPEN, stand.broken_seconds, good), None
    held = stand.broken_seconds + (stand.good_seconds or 0) + seen_seconds
    if condition.reminder_seconds and held >= condition.reminder_seconds:
        return Stand(OPEN), REMINDED
    return Stand(OPEN, held), None
