"""A rule on one instance: ok -> pending -> open -> (reminded) -> resolved. Pure.

No data changes nothing: a server that does not answer neither breaks a rule nor mends it. Too little traffic counts as
no breach. An open incident resolves only after the condition has been gone for a while, so a value that hovers around
the threshold opens one incident, not twenty. A clock that was set back starts what was being waited for anew.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace

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
    phase: str = OK
    since: float = 0
    reminded_at: float | None = None
    recovering_since: float | None = None


def is_broken(condition: Condition, value: float | None, traffic: float | None) -> bool | None:
    """None: cannot be judged."""
    if condition.minimum_traffic > 0 and traffic is not None and traffic < condition.minimum_traffic:
        return False
    if value is None:
        return None
    return COMPARISONS[condition.comparison](value, condition.threshold)


def step(stand: Stand, condition: Condition, broken: bool | None, now: float) -> tuple[Stand, str | None]:
    """The next stand, and the transition to tell of, if any."""
    if broken is None:
        return stand, None
    stand = _not_ahead(stand, now)
    if stand.phase == OPEN:
        return _while_open(stand, condition, broken, now)
    if not broken:
        return Stand(), None
    since = stand.since if stand.phase == PENDING else now
    if now - since >= condition.for_seconds:
        return Stand(OPEN, since, reminded_at=now), OPENED
    return Stand(PENDING, since), None


def _not_ahead(stand: Stand, now: float) -> Stand:
    return replace(
        stand,
        since=min(stand.since, now),
        reminded_at=stand.reminded_at and min(stand.reminded_at, now),
        recovering_since=stand.recovering_since and min(stand.recovering_since, now),
    )


def _while_open(stand: Stand, condition: Condition, broken: bool, now: float) -> tuple[Stand, str | None]:
    if not broken:
        recovering_since = now if stand.recovering_since is None else stand.recovering_since
        if now - recovering_since >= min(condition.for_seconds, LONGEST_RECOVERY_SECONDS):
            return Stand(), RESOLVED
        return replace(stand, recovering_since=recovering_since), None
    stand = replace(stand, recovering_since=None)
    reminded_at = stand.reminded_at if stand.reminded_at is not None else stand.since
    if condition.reminder_seconds and now - reminded_at >= condition.reminder_seconds:
        return replace(stand, reminded_at=now), REMINDED
    return stand, None
