"""Claims of periodic work, so that it is done once for any number of beats and workers.

A turn is claimed by moving its due time forward in one conditional update. The claim is a lease: a process that dies
with it delays the next turn, but never doubles one. A due time further ahead than any claim reaches was set before the
clock was set back: it is due.
"""

from __future__ import annotations

from django.db.models import Q

from controlplane.core.models import Clock

SLACK_SECONDS = 60.0  # between reading the clock and claiming


def turn_claim(name: str, now: float, lease_seconds: float, every_seconds: float = 0.0) -> bool:
    Clock.objects.get_or_create(name=name)
    furthest = now + max(lease_seconds, every_seconds) + SLACK_SECONDS
    is_due = Q(due_at__lte=now) | Q(due_at__gt=furthest)
    return bool(Clock.objects.filter(is_due, name=name).update(due_at=now + lease_seconds))


def turn_renew(name: str, due_at: float, next_due_at: float) -> bool:
    """Extends a claim of periodic work that ends at `due_at` to `next_due_at`, in epoch seconds.

    False if another process has claimed it since: the work must then stop.
    """
    return bool(Clock.objects.filter(name=name, due_at=due_at).update(due_at=next_due_at))


def turn_end(name: str, due_at: float) -> None:
    Clock.objects.filter(name=name).update(due_at=due_at)


def moment_note(name: str, at: float) -> None:
    """Stores when something was last done, in epoch seconds; `moment_of` returns it."""
    Clock.objects.update_or_create(name=name, defaults={"due_at": at})


def moment_of(name: str) -> float | None:
    return Clock.objects.filter(name=name).values_list("due_at", flat=True).first()
