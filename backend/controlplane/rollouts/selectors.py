"""Reading fleet applies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.db.models import Count

from controlplane.core.errors import NotFound
from controlplane.core.models import Event
from controlplane.rollouts.models import FleetApply, FleetApplyItem
from controlplane.rollouts.states import ItemState


def fleet_apply_get(pk: str) -> FleetApply:
    found = FleetApply.objects.filter(pk=pk).first()
    if found is None:
        raise NotFound(f"There is no fleet apply {pk}. It may have been deleted: see the list.")
    return found


def fleet_applies_counts(pks: Collection[str]) -> dict[str, dict[str, int]]:
    """Returns, by the id of each fleet apply, the number of its items in each state, with one query."""
    found = {pk: dict.fromkeys(ItemState.values, 0) for pk in pks}
    items = FleetApplyItem.objects.filter(fleet_apply__in=found).values_list("fleet_apply_id", "state")
    for pk, state, count in items.annotate(count=Count("id")).order_by():
        found[pk][state] = count
    return found


def progress_facts(events: Sequence[Event], instances: Collection[str]) -> dict[int, dict[str, Any]]:
    """Returns, by the id of an event about a fleet apply, how many of its items are in which state.

    They are counted when a reader gets the event, not when it is stored: a thousand items must not be counted a
    thousand times.
    """
    counts = fleet_applies_counts({event.subject for event in events})
    return {event.pk: {"counts": counts[event.subject]} for event in events}
