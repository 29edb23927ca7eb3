"""States of instances that alert rules may watch. Each function returns, by instance id, a number and an explanation
for all instances that are not in order.

A number of None means that the state is unknown at the moment, so no incident opens or resolves.
"""

from __future__ import annotations

from datetime import datetime

from controlplane.fleet.models import Instance, InstanceParameter
from controlplane.fleet.selectors import look_faults
from controlplane.fleet.states import State

MOST_NAMED = 5
Alarms = dict[str, tuple[float | None, str]]


def unreachable() -> dict[str, tuple[float | None, str, datetime | None]]:
    """Returns the unreachable instances by id, each also with the time at which it became unreachable; None if that is
    not known.

    Those that are being created, changed or deleted have None, since a change may restart the server; so have those
    whose server has missed only one probe. A server that a user stopped, or that has never been reached, does not
    count.
    """
    unsure = (State.CREATING, State.CHANGING, State.DELETING)
    found = Instance.objects.filter(state__in=(State.UNREACHABLE, *unsure))
    facts = found.values_list("pk", "state", "state_reason", "state_since", "missed_again_at")
    return {
        # without `since` the state began before second probes were noted
        pk: (1.0, reason, since)
        if state == State.UNREACHABLE and (since is None or missed_again_at)
        else (None, "", None)
        for pk, state, reason, since, missed_again_at in facts
    }


def engine_lost() -> Alarms:
    found = Instance.objects.exclude(engine_lost_at=None).values_list("pk", "state", "engine_lost_at")
    return {
        pk: (1.0, f"lost at {at:%Y-%m-%d %H:%M} UTC") if state == State.RUNNING else (None, "")
        for pk, state, at in found
    }


def drifted_parameters() -> Alarms:
    names: dict[str, list[str]] = {}
    drifted = InstanceParameter.objects.filter(is_drifted=True).order_by("instance_id", "name")
    for pk, name in drifted.values_list("instance_id", "name"):
        names.setdefault(pk, []).append(name)
    return {pk: (float(len(each)), _listed(each)) for pk, each in names.items()}


def answers_unusable() -> Alarms:
    told: dict[str, list[str]] = {}
    for fault in look_faults():
        told.setdefault(fault.instance_id, []).append(fault.told)
    return {pk: (float(len(each)), "; ".join(each)) for pk, each in told.items()}


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
