"""Something happened: rows written in the transaction of what happened, told to browsers as server-sent events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from controlplane.core.models import Event

TOPICS = ("change", "fleet_apply", "incident", "instance", "samples")
# Facts of some events, by their number, for a reader who named these instances (maybe none): what would be too much to
# keep with each of them.
Teller = Callable[[Sequence[Event], Collection[str]], dict[int, dict[str, Any]]]
_tellers: dict[str, Teller] = {}


def event_publish(topic: str, subject: str, facts: dict[str, Any]) -> None:
    Event.objects.create(topic=topic, subject=subject, facts=facts)


def events_publish(topic: str, told: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """Subject and facts of many."""
    Event.objects.bulk_create(Event(topic=topic, subject=subject, facts=facts) for subject, facts in told)


def teller_register(topic: str, teller: Teller) -> None:
    """For the app whose topic it is, when it is ready."""
    _tellers[topic] = teller


def has_teller(topic: str) -> bool:
    return topic in _tellers


def events_told(events: Sequence[Event], instances: Collection[str]) -> list[dict[str, Any]]:
    """What each of them says to a reader who named these instances."""
    more: dict[int, dict[str, Any]] = {}
    for topic, teller in _tellers.items():
        if theirs := [event for event in events if event.topic == topic]:
            more |= teller(theirs, instances)
    return [
        {"topic": each.topic, "subject": each.subject, "at": each.created_at.isoformat(), **each.facts}
        | more.get(each.pk, {})
        for each in events
    ]


def is_about(event: Event, instances: Collection[str]) -> bool:
    """Whether it concerns any of these instances, or none in particular."""
    about = event.subject if event.topic == "instance" else event.facts.get("instance", event.facts.get("instance_id"))
    return not instances or about is None or about in instances
