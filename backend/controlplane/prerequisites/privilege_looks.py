"""The variables that the accounts of instances may not set, as last read from each server. Plans for many instances use
this instead of asking each server.

Every check and preview of an instance stores what it reads anyway. A periodic duty reads the rest: instances that were
read long ago, and all of them after a template has changed. Each server is asked about the parameters of all templates,
so that one answer serves them all.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import timedelta
from itertools import chain

from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from controlplane.core import clock
from controlplane.core.periodic import periodic_claim, periodic_end
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
WORK, EVERY_SECONDS, LEASE_SECONDS = "privilege_looks", 15.0, 300.0
ROUND_COUNT, ROUND_SECONDS = 1000, 60.0
LOOK_SECONDS = 15.0  # per instance, since the others wait for it


def look(instance: Instance, server: Server, names: Iterable[str] = ()) -> PrivilegeLook:
    """Reads from the server which parameters the account may not set, of `names` and of all templates, and stores the
    result.

    `server` must be connected with the account that changes parameters.
    """
    asked = sorted({*names, *_settable(instance)})
    now = timezone.now()
    found = PrivilegeLook(instance=instance, tried_at=now, at=now, place=_place(instance), asked=asked)
    found.missing, found.account = missing_to_set(server, asked), server.account
    _keep(found)
    return found


def looks_of(instances: Iterable[Instance]) -> dict[str, PrivilegeLook]:
    """Returns the stored results by instance id, without those about another account or address than the instance has
    now.
    """
    wanted = {each.pk: each for each in instances}
    kept = PrivilegeLook.objects.filter(instance__in=list(wanted), at__isnull=False)
    return {each.instance_id: each for each in kept if each.place == _place(wanted[each.instance_id])}


def look_at_privileges_if_due() -> None:
    now = clock.shared_time()
    if not periodic_claim(WORK, now, LEASE_SECONDS):
        return
    try:
        look_round()
    finally:
        periodic_end(WORK, now + EVERY_SECONDS)


def look_round() -> None:
    until = time.monotonic() + ROUND_SECONDS
    with isolated(Duty.PRIVILEGES) as work:
        for instance in list(_due()[:ROUND_COUNT]):
            # Stored before the attempt: after a failure the other instances come first before this one is tried again.
            PrivilegeLook.objects.update_or_create(instance=instance, defaults={"tried_at": timezone.now()})
            with work.on(instance.pk), connected(instance, Use.CHANGE, seconds=LOOK_SECONDS) as server:
                look(instance, server)
            if time.monotonic() > until:
                return


def _due() -> QuerySet[Instance]:
    """Returns the instances whose privileges are due to be read again, those that were never read first."""
    changed = TemplateVersion.objects.aggregate(newest=Max("created_at"))["newest"]
    long_ago = Q(privilege_look__tried_at__lt=timezone.now() - LOOK_AGAIN)
    before = Q(privilege_look__tried_at__lt=changed) if changed else Q()
    external = instance_list().filter(provider=Provider.EXTERNAL, state=State.RUNNING)
    return external.filter(Q(privilege_look=None) | long_ago | before).order_by(
        F("privilege_look__tried_at").asc(nulls_first=True)
    )


def _settable(instance: Instance) -> set[str]:
    """Returns the names of the parameters to ask the server about: those of the cache, the configured ones and those of
    the newest templates, as far as they can be set without a restart.
    """
    newest = TemplateVersion.objects.filter(number=F("template__version")).values_list("values", flat=True)
    configured = instance.parameters.values_list("name", flat=True)
    line = instance_line(instance)
    known = {name: line.get(name) for name in {*CACHE_PARAMETERS, *configured, *chain.from_iterable(newest)}}
    return {name for name, found in known.items() if found and found.is_modifiable and not found.needs_restart}


def _place(instance: Instance) -> str:
    return f"{instance.username}@{instance.host}:{instance.port}"


def _keep(found: PrivilegeLook) -> None:
    """Stores the result. If two are stored at the same time, the later one counts."""
    PrivilegeLook.objects.bulk_create(
        [found],
        update_conflicts=True,
        unique_fields=["instance"],
        update_fields=["tried_at", "at", "place", "account", "asked", "missing"],
    )
