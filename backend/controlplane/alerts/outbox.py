"""Rules that the outboxes of mails and of channels share: what is due, what is stuck, and when it is tried again."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Protocol

from django.db.models import Q

MOST_ATTEMPTS = 10
FIRST_DELAY, LONGEST_DELAY = timedelta(seconds=30), timedelta(hours=1)
STUCK_AFTER = timedelta(minutes=10)
MOST_ALONE = 10  # more mails than this of one kind to the same recipients are merged into one


class Attempted(Protocol):
    attempts: int


def is_due(now: datetime) -> Q:
    # A time further ahead than any delay means that the clock was set back.
    return Q(due_at__lte=now) | Q(due_at__gt=now + 2 * LONGEST_DELAY)


def is_stuck(now: datetime) -> Q:
    """Returns the condition for messages that are being sent by a process that has died."""
    # A time in the future means that the clock was set back.
    return Q(claimed_at__lt=now - STUCK_AFTER) | Q(claimed_at__gt=now + STUCK_AFTER)


def next_try(failed: Iterable[Attempted], now: datetime) -> datetime:
    attempts = max((each.attempts for each in failed), default=1)
    return now + min(FIRST_DELAY * 2 ** (attempts - 1), LONGEST_DELAY)
