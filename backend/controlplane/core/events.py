"""Something happened: rows written in the transaction of what happened, told to browsers as server-sent events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from controlplane.core.models import Event

TOPICS = ("change", "fleet_apply", "incident", "instance", "samples")


def event_publish(topic: str, subject: str, facts: dict[str, Any]) -> None:
    Event.objects.create(topic=topic, subject=subject, facts=facts)


def events_publish(topic: str, told: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """Subject and facts of many."""
    Event.objects.bulk_create(Event(topic=topic, subject=subject, facts=facts) for subject, facts in told)
