"""Stores the near caches that a round of polls found.

One that is gone stays in the list for a day, so that it can be missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Exists, OuterRef

from controlplane.near_caches.models import NearCache, Source
from controlplane.near_caches.reading import Row, near_rows

KEPT = timedelta(days=1)
KEY = ("instance", "source", "name", "attachment")
NOTED = tuple(
    field.name for field in NearCache._meta.local_concrete_fields if not field.primary_key and field.name not in KEY
)
Key = tuple[str, str, int]


@dataclass(frozen=True)
class NearCacheListing:
    """The rows of SHOW FQC NEAR of one server, one per near cache. `at` is when it was asked, in epoch seconds."""

    at: float
    rows: Sequence[Row] = ()


def near_caches_note(found: Mapping[str, NearCacheListing]) -> None:
    """Stores the near caches that servers list, by instance id.

    Those of these instances that are no longer listed are marked detached, and deleted a day later. Must be called in a
    transaction.
    """
    if not found:
        return
    kept = {_key(near): near for near in NearCache.objects.filter(source=Source.ATTACHED, is_attached=True)}
    new = {_key(near): near for near in _read(found, kept)}
    if new:
        NearCache.objects.bulk_create(new.values(), update_conflicts=True, unique_fields=KEY, update_fields=NOTED)
    gone = [near.pk for key, near in kept.items() if near.instance_id in found and key not in new]
    if gone:
        NearCache.objects.filter(pk__in=gone).update(is_attached=False)
    if new:
        forget_returned()
    now = moment(max(listed.at for listed in found.values()))
    NearCache.objects.filter(is_attached=False, seen_at__lt=now - KEPT).delete()


def _read(found: Mapping[str, NearCacheListing], kept: Mapping[Key, NearCache]) -> Iterable[NearCache]:
    for instance_id, listed in found.items():
        now = moment(listed.at)
        for fields in near_rows(listed.rows):
            near = NearCache(instance_id=instance_id, attached_at=now, seen_at=now, **fields)
            before = kept.get(_key(near))
            if before is not None and _is_same(near, before):
                _compare(near, before)
            yield near


def _is_same(near: NearCache, before: NearCache) -> bool:
    """Returns whether two rows with the same number are about the same attachment.

    A restarted server counts attachments from 1 again, but its counters are smaller then.
    """
    return before.hits <= near.hits and before.writers_waited <= near.writers_waited


def _compare(near: NearCache, before: NearCache) -> None:
    near.attached_at = before.attached_at
    seconds = (near.seen_at - before.seen_at).total_seconds()
    if seconds > 0:
        near.hits_per_second = (near.hits - before.hits) / seconds
        near.misses_per_second = max(0, near.misses - before.misses) / seconds


def forget_returned() -> None:
    """Deletes the row of each detached near cache if there is one of the same name and instance that is attached now,
    since it is the same program.
    """
    back = NearCache.objects.filter(is_attached=True, instance=OuterRef("instance"), name=OuterRef("name"))
    NearCache.objects.filter(Exists(back), is_attached=False).delete()


def _key(near: NearCache) -> Key:
    return (near.instance_id, near.name, near.attachment)


def moment(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
