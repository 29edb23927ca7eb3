"""How much storage servers use, and how much of it is free where that is known.

Summing up the files of all tables takes a server with 100 000 of them some seconds. So servers are read every five
minutes, in a lane of their own next to the polls and within a time limit that the server itself keeps; polls copy the
newest figures into their samples. A figure that a server does not tell is missing, with the reason.

A server's free disk is known in three ways: of a local server, since its folder is on this machine; of a MariaDB server
that has the plugin DISKS, if the account has the privilege FILE; and otherwise as what is left of the storage that the
class of the instance states.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath

from django.conf import settings
from django.db.models import F, Q, QuerySet

from controlplane.core import clock
from controlplane.core.periodic import periodic_claim, periodic_end
from controlplane.fleet.connection import address_of, limits
from controlplane.fleet.isolation import isolated
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import endpoint_list
from controlplane.fleet.states import Duty, Provider
from controlplane.gateway.errors import PrivilegeMissing, RefusedStatement
from controlplane.gateway.numbers import whole
from controlplane.gateway.product import Product, product_of, tablespace_sum
from controlplane.gateway.server import Limits, Server, open_server
from controlplane.metrics.models import DiskSource, StorageGap, StorageLook

EVERY_SECONDS = 300
# 200 instances every five seconds are 12 000 in five minutes. A round whose servers are all slow takes ten minutes.
WORK, TURN_SECONDS, LEASE_SECONDS = "storage_looks", 5.0, 900.0
ROUND_COUNT, THREADS = 200, 8
CONNECT_SECONDS = 3
SUM_SECONDS = 10  # the server ends the query that sums up its tables after that time
LOOK_SECONDS = 20.0  # for all statements together
KIB = 1024
SHOWN = [field.name for field in StorageLook._meta.fields if field.name not in ("instance", "tried_at")]


@dataclass(frozen=True)
class Storage:
    """The storage that a server uses, as StorageLook has it."""

    table_bytes: int | None
    table_gap: StorageGap
    binary_log_bytes: int | None
    binary_log_gap: StorageGap
    disk_bytes: int | None = None
    disk_free_bytes: int | None = None
    disk_gap: StorageGap = StorageGap.NONE
    disk_source: DiskSource = DiskSource.NONE


def look_at_storage_if_due() -> None:
    now = clock.shared_time()
    if not periodic_claim(WORK, now, LEASE_SECONDS):
        return
    try:
        look_round(now)
    finally:
        periodic_end(WORK, now + TURN_SECONDS)


def look_round(now: float) -> None:
    """Reads the storage of the servers that were read five minutes ago or longer. `now` is in epoch seconds."""
    instances = list(_due(now)[:ROUND_COUNT])
    # Stored before the attempt: after a failure the other instances come first before one is tried again.
    _keep([StorageLook(instance=each, tried_at=now) for each in instances], ["tried_at"])
    within = replace(limits(), connect_seconds=CONNECT_SECONDS, statement_seconds=int(LOOK_SECONDS))
    with isolated(Duty.STORAGE) as work, ThreadPoolExecutor(THREADS, "storage") as threads:
        looks = {each.pk: threads.submit(_look, each, within) for each in instances}
        found: dict[str, Storage] = {}
        for pk, look in looks.items():
            with work.on(pk):
                found[pk] = look.result()
        work.together(found, lambda found: _write(found, now))


def _due(now: float) -> QuerySet[Instance]:
    """Returns the instances that are due to be read, those that were never read first.

    One whose last try lies ahead is due, too: the clock has been set back since.
    """
    tried = Q(storage_look__tried_at__lte=now - EVERY_SECONDS) | Q(storage_look__tried_at__gt=now)
    return (
        endpoint_list()
        .annotate(allocated_bytes=F("instance_class__storage_bytes"))
        .filter(Q(storage_look=None) | tried)
        .order_by(F("storage_look__tried_at").asc(nulls_first=True))
    )


def _write(found: Mapping[str, Storage], now: float) -> None:
    _keep([StorageLook(instance_id=pk, tried_at=now, at=now, **asdict(each)) for pk, each in found.items()], SHOWN)


def _keep(looks: Sequence[StorageLook], columns: Sequence[str]) -> None:
    """Stores the looks. Where an instance has a row already, only these columns of it are overwritten."""
    StorageLook.objects.bulk_create(
        looks, update_conflicts=True, unique_fields=["instance"], update_fields=list(columns)
    )


def _look(instance: Instance, within: Limits) -> Storage:
    server = open_server(address_of(instance), within)
    try:
        server.until = time.monotonic() + LOOK_SECONDS
        server.stay_uncounted()
        return storage_of(server, instance)
    finally:
        server.close()


def storage_of(server: Server, instance: Instance) -> Storage:
    product = product_of(instance.engine_version)
    tables, table_gap = _tables(server, product, instance.engine_version)
    logs, log_gap = _binary_logs(server)
    used = Storage(tables, table_gap, logs, log_gap)
    if instance.provider == Provider.LOCAL:
        return _on_this_machine(used, instance)
    return _of_class(_on_disk(used, server, product), instance.allocated_bytes)


def _tables(server: Server, product: Product, version: str) -> tuple[int | None, StorageGap]:
    limit = product.time_limit
    try:
        server.set_session(limit.name, SUM_SECONDS * (1000 if limit.is_in_milliseconds else 1))
        return _read(str(server.value(tablespace_sum(version))))
    except PrivilegeMissing:
        return None, StorageGap.PRIVILEGE
    except RefusedStatement as error:
        return None, StorageGap.TOO_SLOW if error.number in product.timeout_errors else StorageGap.NOT_TOLD


def _binary_logs(server: Server) -> tuple[int | None, StorageGap]:
    try:
        if server.variable("log_bin") != "1":
            return 0, StorageGap.NONE
        sizes = [whole(log.get("File_size")) or 0 for log in server.named_rows("SHOW BINARY LOGS")]
    except PrivilegeMissing:
        return None, StorageGap.PRIVILEGE
    except RefusedStatement:
        return None, StorageGap.NOT_TOLD
    return _read(str(sum(sizes)))


def _on_this_machine(used: Storage, instance: Instance) -> Storage:
    try:
        disk = shutil.disk_usage(settings.LOCAL_ROOT / instance.pk)
    except OSError:
        return replace(used, disk_gap=StorageGap.NOT_TOLD)
    # Neither figure has the blocks that the system reserves for itself.
    return replace(used, disk_bytes=disk.used + disk.free, disk_free_bytes=disk.free, disk_source=DiskSource.DISK)


def _on_disk(used: Storage, server: Server, product: Product) -> Storage:
    """Adds the size and free space of the disk that holds the data, as the server reports them: the disk is that of the
    longest path above the data folder.
    """
    if not product.disks:
        return replace(used, disk_gap=StorageGap.NOT_TOLD)
    try:
        disks = server.named_rows(product.disks)
        folder = PurePosixPath(server.variable("datadir") or "/")
    except RefusedStatement:
        return replace(used, disk_gap=StorageGap.NOT_TOLD)
    if not disks:
        return replace(used, disk_gap=StorageGap.PRIVILEGE)
    holding = [disk for disk in disks if folder.is_relative_to(disk.get("Path") or "")]
    disk = max(holding, key=lambda disk: len(disk.get("Path") or ""), default={})
    taken, free = (whole(disk.get(name)) for name in ("Used", "Available"))
    size, _ = _read(str(((taken or 0) + (free or 0)) * KIB))
    if taken is None or free is None or size is None:
        return replace(used, disk_gap=StorageGap.NOT_TOLD)
    return replace(used, disk_bytes=size, disk_free_bytes=free * KIB, disk_source=DiskSource.DISK)


def _of_class(found: Storage, allocated: int | None) -> Storage:
    """Adds size and free space of the disk as the instance's class states the size (`allocated`): free is what the
    tables and binary logs leave of it. Changes nothing if the server has reported its own disk, or if a figure is
    missing.
    """
    tables, logs = found.table_bytes, found.binary_log_bytes
    if found.disk_source is DiskSource.DISK or allocated is None or tables is None or logs is None:
        return found
    free = max(0, allocated - tables - logs)
    return replace(found, disk_bytes=allocated, disk_free_bytes=free, disk_source=DiskSource.ALLOCATED)


def _read(number: str) -> tuple[int | None, StorageGap]:
    """Returns a number of bytes that a server sent; None and the gap if it is no number that fits the columns."""
    read = whole(number)
    return read, StorageGap.NONE if read is not None else StorageGap.NOT_TOLD
