"""What the accounts of instances may not set, as last asked of each server, for who plans for many and asks none.

Every check and preview of an instance keeps what it asks anyway. A duty beside the polls asks for the rest: those that
were asked long ago, and all of them once a template has changed. It is asked about what any template sets, so that one
answer serves them all.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import timedelta
from itertools import chain

from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from controlplane.core import clock
from controlplane.core.turns import turn_claim, turn_end
from controlplane.fleet.connection import connected
from controlplane.fleet.definitions import instance_line
from controlplane.fleet.isolation import isolated
from controlplane.fleet.models import Instance, PrivilegeLook
from controlplane.fleet.selectors import instance_list
from controlplane.fleet.states import Duty, Provider, State
from controlplane.gateway.local_accounts import Use
from controlplane.gateway.privileges import missing_to_set
from controlplane.gateway.server import Server
from controlplane.parameters.models import TemplateVersion

CACHE_PARAMETERS = ("query_cache_type", "query_cache_size", "innodb_buffer_pool_size")
LOOK_AGAIN = timedelta(hours=6)
TURN, EVERY_SECONDS, LEASE_SECONDS = "privilege_looks", 15.0, 300.0
ROUND_COUNT, ROUND_SECONDS = 1000, 60.0
LOOK_SECONDS = 15.0  # at one instance: the others wait behind it


def look(instance: Instance, server: Server, names: Iterable[str] = ()) -> PrivilegeLook:
    """Asks about these parameters and what templates set, and keeps the answer."""
    asked = sorted({*names, *_settable(instance)})
    now = timezone.now()
    found = PrivilegeLook(instance=instance, tried_at=now, at=now, place=_place(instance), asked=asked)
    found.missing, found.account = missing_to_set(server, asked), server.account
    _keep(found)
    return found


def looks_of(instances: Iterable[Instance]) -> dict[str, PrivilegeLook]:
    """By instance, what was answered about the account that it has now."""
    wanted = {each.pk: each for each in instances}
    kept = PrivilegeLook.objects.filter(instance__in=list(wanted), at__isnull=False)
    return {each.instance_id: each for each in kept if each.place == _place(wanted[each.instance_id])}


def look_if_due() -> None:
    now = clock.shared_time()
    if not turn_claim(TURN, now, LEASE_SECONDS):
        return
    try:
        look_round()
    finally:
        turn_end(TURN, now + EVERY_SECONDS)


def look_round() -> None:
    until = time.monotonic() + ROUND_SECONDS
    with isolated(Duty.PRIVILEGES) as work:
        for instance in list(_due()[:ROUND_COUNT]):
            # Noted first: whatever it meets, the others have their turn before it is tried again.
            PrivilegeLook.objects.update_or_create(instance=instance, defaults={"tried_at": timezone.now()})
            with work.on(instance.pk), connected(instance, Use.CHANGE, seconds=LOOK_SECONDS) as server:
                look(instance, server)
            if time.monotonic() > until:
                return


def _due() -> QuerySet[Instance]:
    """What was never asked comes first."""
    changed = TemplateVersion.objects.aggregate(newest=Max("created_at"))["newest"]
    long_ago = Q(privilege_look__tried_at__lt=timezone.now() - LOOK_AGAIN)
    before = Q(privilege_look__tried_at__lt=changed) if changed else Q()
    external = instance_list().filter(provider=Provider.EXTERNAL, state=State.RUNNING)
    return external.filter(Q(privilege_look=None) | long_ago | before).order_by(
        F("privilege_look__tried_at").asc(nulls_first=True)
    )


def _settable(instance: Instance) -> set[str]:
    """Of the cache's parameters, what is configured and what the newest templates set, those that need no restart."""
    newest = TemplateVersion.objects.filter(number=F("template__version")).values_list("values", flat=True)
    configured = instance.parameters.values_list("name", flat=True)
    line = instance_line(instance)
    known = {name: line.get(name) for name in {*CACHE_PARAMETERS, *configured, *chain.from_iterable(newest)}}
    return {name for name, found in known.items() if found and found.is_modifiable and not found.needs_restart}


def _place(instance: Instance) -> str:
    return f"{instance.username}@{instance.host}:{instance.port}"


def _keep(found: PrivilegeLook) -> None:
    """Whichever came last, also where two came at a time."""
    PrivilegeLook.objects.bulk_create(
        [found],
        update_conflicts=True,
        unique_fields=["instance"],
        update_fields=["tried_at", "at", "place", "account", "asked", "missing"],
    )
