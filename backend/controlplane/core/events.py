"""Events: rows written in the transaction of what happened, and sent to browsers as server-sent events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from controlplane.core.hooks import Hook
from controlplane.core.models import Event

TOPICS = ("change", "fleet_apply", "incident", "instance", "samples")
# A function for events of one topic. It takes such events and the ids of the instances that a reader of them has named.
# It returns, by event id, facts that are added to the event's data; they would be too much to store with each event.
FactsOfEvents = Callable[[Sequence[Event], Collection[str]], dict[int, dict[str, Any]]]
EVENT_FACTS: Hook[FactsOfEvents] = Hook("core.events.EVENT_FACTS")


def event_publish(topic: str, subject: str, facts: dict[str, Any]) -> None:
    Event.objects.create(topic=topic, subject=subject, facts=facts)


def events_publish(topic: str, told: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """Stores many events of one topic. `told` has, for each, its subject (the id of the resource that it is about) and
    its facts.

    Must be called in the transaction of the changes that the events are about.
    """
    Event.objects.bulk_create(Event(topic=topic, subject=subject, facts=facts) for subject, facts in told)


def has_computed_facts(topic: str) -> bool:
    return topic in EVENT_FACTS.parts


def event_payloads(events: Sequence[Event], instances: Collection[str]) -> list[dict[str, Any]]:
    """Returns the data of each event, in the same order, as one reader gets it. Some topics have figures of single
    instances: the data contains those of `instances`, which the reader has named.
    """
    more: dict[int, dict[str, Any]] = {}
    for topic, teller in EVENT_FACTS.parts.items():
        if theirs := [event for event in events if event.topic == topic]:
            more |= teller(theirs, instances)
    return [
        {"topic": each.topic, "subject": each.subject, "at": each.created_at.isoformat(), **each.facts}
        | more.get(each.pk, {})
        for each in events
    ]


def is_about(event: Event, instances: Collection[str]) -> bool:
    """True if the event is about one of these instances or about none in particular, or no instances are named."""
    about = event.subject if event.topic == "instance" else event.facts.get("instance", event.facts.get("instance_id"))
    return not instances or about is None or about in instances
