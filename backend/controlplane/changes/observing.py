"""Observing: the engine counts what the cache would do while it is off. One change set begins it, another ends it.

Nothing is observed at a query_cache_size of 0. So a size of 0 is raised while observing; this takes no memory, since
nothing is stored.
"""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.db import transaction
from django.utils import timezone

from controlplane.changes.cache_planning import OBSERVE, POOL, SIZE, running_bytes
from controlplane.changes.models import ChangeSet
from controlplane.changes.plan import Situation
from controlplane.changes.planning import Preview, preview_wanted, situation_of
from controlplane.changes.services import AT_ONCE, change_request, refuse_unless_settled
from controlplane.changes.states import Kind
from controlplane.core.errors import Conflict, Problem
from controlplane.core.request_context import acting_as
from controlplane.fleet.connection import connected
from controlplane.fleet.isolation import isolated
from controlplane.fleet.models import Instance, Observation
from controlplane.fleet.states import Duty
from controlplane.prerequisites.advice import observed
from controlplane.prerequisites.check import observe
from controlplane.prerequisites.recommendation import counted, result_of
from controlplane.prerequisites.rules import is_cache_on
from controlplane.prerequisites.sizing import rounded
from controlplane.prerequisites.status import cache_curve

log = structlog.get_logger(__name__)
MOST_BYTES = 64 * 1024**2
TRY_AGAIN = timedelta(minutes=5)  # longer than ending an observation takes


def observation_begin(instance: Instance, *, hours: int) -> ChangeSet:
    refuse_unless_settled(instance)
    readings = observe(instance)
    if is_cache_on(readings):
        told = f"The cache of {instance.name} is on already: its own counters show how well it does."
        raise Conflict(told, code="cache_is_on")
    situation = situation_of(instance)
    size = _size(situation)
    wanted: dict[str, str | None] = {OBSERVE: "ON"}
    if size:
        wanted[SIZE] = size
    preview = preview_wanted(instance, situation, wanted, allow_restart=False)
    now = timezone.now()
    facts = {
        "started_at": now,
        "ends_at": now + timedelta(hours=hours),
        "is_running": True,
        "counted_before": counted(readings.status),
        "result": None,
    }
    if size:
        facts |= {"size_before": situation.configured.get(SIZE), "size_set": size}
    with transaction.atomic():
        Observation.objects.update_or_create(instance=instance, defaults=facts)
        if not preview.steps:
            raise Conflict(f"{instance.name} is being observed already.", code="observed_already")
        return change_request(instance, Kind.PARAMETERS, preview, **AT_ONCE, note=f"observe for {hours} h")


def _size(situation: Situation) -> str:
    if running_bytes(situation, SIZE) > 0:
        return ""
    return str(rounded(min(MOST_BYTES, running_bytes(situation, POOL) // 10)))


def observation_end(instance: Instance) -> ChangeSet | None:
    """Ends the observation of an instance and stores its result.

    Returns the change set that restores the server's settings; None if there is nothing to restore. Raises Conflict if
    the instance is not being observed.
    """
    found = Observation.objects.filter(instance=instance, is_running=True).first()
    if found is None:
        raise Conflict(f"{instance.name} is not being observed.", code="not_observed")
    return _end(instance, found)


def _end(instance: Instance, found: Observation) -> ChangeSet | None:
    seen = observed(instance, observe(instance), cache_curve(instance))
    preview = _preview_end(instance, found)
    with transaction.atomic():
        Observation.objects.filter(pk=found.pk).update(
            is_running=False, ends_at=found.ends_at, result=seen and result_of(seen)
        )
        if not preview.lines:
            return None
        return change_request(instance, Kind.PARAMETERS, preview, **AT_ONCE, note="the observation has ended")


def _preview_end(instance: Instance, found: Observation) -> Preview:
    situation = situation_of(instance)
    wanted: dict[str, str | None] = {OBSERVE: None}
    restored = {}
    if found.size_set and situation.configured.get(SIZE) == found.size_set and _is_off(instance):
        wanted[SIZE] = found.size_before
        restored = {} if found.size_before is not None else {SIZE: "0"}
    return preview_wanted(instance, situation, wanted, allow_restart=False, restored=restored)


def _is_off(instance: Instance) -> bool:
    with connected(instance) as server:
        return server.variable("query_cache_type") in ("0", "OFF")


def observations_end_due() -> None:
    """Ends the observations of all instances whose time is over.

    One whose server does not answer or is being changed is tried again after TRY_AGAIN.
    """
    now = timezone.now()
    with isolated(Duty.OBSERVATIONS) as work, acting_as("system"):
        for found in Observation.objects.filter(is_running=True, ends_at__lte=now).select_related("instance"):
            # Postponed first, so that no other worker tries the same one and failures do not hold up the others.
            Observation.objects.filter(pk=found.pk).update(ends_at=now + TRY_AGAIN)
            with work.on(found.pk):
                try:
                    _end(found.instance, found)
                except Problem as error:
                    log.warning("observation_not_ended", instance=found.pk, code=error.code, detail=error.detail)
