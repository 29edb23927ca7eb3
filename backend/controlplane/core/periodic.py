"""Claims of periodic work, so that it is done once for any number of beats and workers.

Work is claimed by moving its due time forward in one conditional update. The claim is a lease: if a process dies with
it, the work is late, but never done twice. A due time further ahead than any claim reaches was set before the clock was
set back: such work is due.
"""

from __future__ import annotations

from django.db.models import Q

from controlplane.core.models import Clock

SLACK_SECONDS = 60.0  # between reading the clock and claiming


def periodic_claim(name: str, now: float, lease_seconds: float, every_seconds: float = 0.0) -> bool:
    """Claims the periodic work of this name for `lease_seconds`, if it is due at `now` (epoch seconds).

    False if it is not due, or another process has claimed it. True: call `periodic_end` once the work is done;
    otherwise it is due again when the lease is over. `every_seconds` is its interval, if that is longer than the lease.
    """
    Clock.objects.get_or_create(name=name)
    furthest = now + max(lease_seconds, every_seconds) + SLACK_SECONDS
    is_due = Q(due_at__lte=now) | Q(due_at__gt=furthest)
    return bool(Clock.objects.filter(is_due, name=name).update(due_at=now + lease_seconds))


def periodic_renew(name: str, due_at: float, next_due_at: float) -> bool:
    """Extends a claim of periodic work that ends at `due_at` to `next_due_at`, in epoch seconds.

    False if another process has claimed it since: the work must then stop.
    """
    return bool(Clock.objects.filter(name=name, due_at=due_at).update(due_at=next_due_at))


def periodic_end(name: str, due_at: float) -> None:
    """Ends a claim of periodic work, which is due again at `due_at` (epoch seconds)."""
    Clock.objects.filter(name=name).update(due_at=due_at)


def last_done_note(name: str, at: float) -> None:
    """Stores when something was last done, in epoch seconds; `last_done_at` returns it."""
    Clock.objects.update_or_create(name=name, defaults={"due_at": at})


def last_done_at(name: str) -> float | None:
    """Returns the time that `last_done_note` stored for this name, in epoch seconds. None if it stored none."""
    return Clock.objects.filter(name=name).values_list("due_at", flat=True).first()
