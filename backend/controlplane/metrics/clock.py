"""Whose turn it is: periodic work is done once however many beats and workers there are.

A turn is claimed by moving its due time forward in one conditional update. The claim is a lease: whoever dies with it
delays the next turn, never doubles one.
"""

from __future__ import annotations

from controlplane.metrics.models import Clock


def turn_claim(name: str, now: float, lease_seconds: float) -> bool:
    Clock.objects.get_or_create(name=name)
    return bool(Clock.objects.filter(name=name, due_at__lte=now).update(due_at=now + lease_seconds))


def turn_end(name: str, due_at: float) -> None:
    Clock.objects.filter(name=name).update(due_at=due_at)
