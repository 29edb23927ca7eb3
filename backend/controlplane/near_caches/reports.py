"""Reports of near caches about themselves, for servers without the plugin.

A report is stored when it arrives. Its hits and misses are added to the instance's counters with the next sample, so
that charts and alerts have them together with the rest of that round. A near cache that is silent for three rounds is
marked detached and counted as missed for an hour, like one that a server lists; one that announces its stop is not
missed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from controlplane.core import clock
from controlplane.core.errors import Conflict
from controlplane.fleet.models import Instance
from controlplane.near_caches.models import NearCache, Source
from controlplane.near_caches.reading import MOST_ROWS
from controlplane.near_caches.services import forget_returned, moment
from controlplane.settings.selectors import settings_get

SILENT_ROUNDS = 3
MISSED = timedelta(hours=1)
# More than any program answers. Without this limit, reported values could overflow the columns that add them up.
MOST_PER_SECOND = 10_000_000


@dataclass
class ReportSums:
    """Sums of the reports of an instance's near caches since its newest sample: growth of hits and misses, and how many
    report now or are missed.
    """

    hits: int = 0
    misses: int = 0
    reporting: int = 0
    detached: int = 0


@transaction.atomic
def near_report(instance: Instance, report: Mapping[str, Any], address: str) -> float:
    """Stores a report of a near cache about itself.

    Returns the number of seconds until the next one is expected. Raises Conflict if too many report for this instance.
    `address` is the reporter's.
    """
    now = clock.shared_now()
    told = {**report, "address": address, "seen_at": now}
    has_left = told.pop("is_leaving")
    told |= {"has_left": has_left, "is_attached": not has_left}
    key = {"instance": instance, "source": Source.REPORTING, "name": told.pop("name"), "attachment": told.pop("life")}
    near, is_new = NearCache.objects.select_for_update().get_or_create(**key, defaults={**told, "attached_at": now})
    if is_new:
        _make_room(instance)
    else:
        _add(near, told)
    return settings_get().poll_interval_seconds


def _make_room(instance: Instance) -> None:
    mine = _reporting().filter(instance=instance)
    if mine.count() > MOST_ROWS:
        mine.filter(is_attached=False).delete()
    if mine.count() > MOST_ROWS:
        raise Conflict(
            f"{MOST_ROWS} near caches report to {instance.name} already: another one is not recorded.",
            code="too_many_near_caches",
        )


def _add(near: NearCache, told: Mapping[str, Any]) -> None:
    seconds = (told["seen_at"] - near.seen_at).total_seconds()
    hits, misses = (_grown(getattr(near, name), told[name], seconds) for name in ("hits", "misses"))
    # Observed hits are not served, so they must not count in the instance's hit ratio.
    if told["observed_hits"] is None:
        near.unsampled_hits += hits
        near.unsampled_misses += misses
    if seconds > 0:
        near.hits_per_second, near.misses_per_second = hits / seconds, misses / seconds
    for name, value in told.items():
        setattr(near, name, value)
    near.save()


def _grown(before: int, now: int, seconds: float) -> int:
    """Returns how much a counter grew in so many seconds, at most what a program can reach in that time.

    It is 0 if the clock was set back or a later report arrived first.
    """
    return int(max(0, min(now - before, seconds * MOST_PER_SECOND)))


def report_sums_take(at: float, sampled: Collection[str]) -> dict[str, ReportSums]:
    """Returns, by instance id, what near caches reported since the last call.

    Must be called once in the transaction of a round of polls, which stores a sample for each instance in `sampled`:
    for these the growth is reset, so that it is counted only once. Near caches that are silent are marked detached.
    """
    silence = timedelta(seconds=SILENT_ROUNDS * settings_get().poll_interval_seconds)
    _reporting().filter(is_attached=True, seen_at__lt=moment(at) - silence).update(is_attached=False)
    rows = list(_reporting().select_for_update())
    if not rows:
        return {}
    taken = [near.pk for near in rows if near.instance_id in sampled and (near.unsampled_hits or near.unsampled_misses)]
    NearCache.objects.filter(pk__in=taken).update(unsampled_hits=0, unsampled_misses=0)
    forget_returned()
    return _added_up(rows, at)


def _added_up(rows: Iterable[NearCache], at: float) -> dict[str, ReportSums]:
    here = {(near.instance_id, near.name) for near in rows if near.is_attached}
    found: dict[str, ReportSums] = {}
    for near in rows:
        told = found.setdefault(near.instance_id, ReportSums())
        told.hits += near.unsampled_hits
        told.misses += near.unsampled_misses
        told.reporting += near.is_attached
        is_gone = not near.has_left and (near.instance_id, near.name) not in here
        told.detached += is_gone and near.seen_at > moment(at) - MISSED
    return found


def _reporting() -> QuerySet[NearCache]:
    return NearCache.objects.filter(source=Source.REPORTING)
