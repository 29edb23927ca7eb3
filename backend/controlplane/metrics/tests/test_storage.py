"""The storage of real servers, from the look at them to the samples, the API and an alert."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from controlplane.alerts.evaluation import evaluate
from controlplane.alerts.models import AlertRule, Incident
from controlplane.fleet.kept_connections import Connections
from controlplane.fleet.models import Instance, InstanceClass, LookFault
from controlplane.gateway.product import MARIADB, MYSQL, LocalProduct
from controlplane.metrics import polling, storage
from controlplane.metrics.models import Latest, Sample, StorageLook
from controlplane.metrics.partitions import partitions_ensure
from controlplane.metrics.storage import EVERY_SECONDS, Storage, look_round
from controlplane.metrics.tests.fleet import GIB, instance_make
from testing.servers import CONFIGURATION, LINES, managed, server_of_line

pytestmark = pytest.mark.django_db
T = 1_800_000_000
# The library of MariaDB's plugin DISKS. Debian has it in the package mariadb-server, which tests need for nothing else.
DISKS = Path(os.environ.get("FQC_DISKS_LIBRARY") or "/usr/lib/mysql/plugin/disks.so")
GRANT_LOGS = {MARIADB: "BINLOG MONITOR", MYSQL: "REPLICATION CLIENT"}
WATCHER = "watcher@'127.0.0.1'"


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in {"CONNECT_SECONDS": 60, "SUM_SECONDS": 60, "LOOK_SECONDS": 120.0}.items():
        monkeypatch.setattr(storage, name, seconds)


@pytest.fixture(scope="module", params=[pytest.param(each.values, id=each.id) for each in LINES])
def server(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Yields a server of each product and line with binary logs, a schema of 20 MB, and an account without grants."""
    kind, product = request.param
    with server_of_line(kind, product, ("log-bin = log", "server-id = 1")) as server:
        owner = server.connect()
        owner.run("CREATE DATABASE shop")
        owner.run("CREATE TABLE shop.items (id INT PRIMARY KEY AUTO_INCREMENT, note LONGBLOB)")
        for _ in range(8):
            owner.run("INSERT INTO shop.items (note) VALUES (REPEAT(UUID(), 80000))")
        owner.run(f"CREATE USER {WATCHER} IDENTIFIED BY 'x'")
        owner.close()
        yield server


def look(instance: Any, at: int = T) -> StorageLook:
    look_round(at)
    return StorageLook.objects.get(pk=instance.pk)


def written(folder: Path) -> int:
    """Returns the bytes that the files of a data folder take on the disk: those of InnoDB but its redo logs."""
    redo = ("ib_logfile", "#innodb_redo", "#ib_16384", "ib_buffer_pool", "ddl_recovery", "ib_redo")
    files = [file for file in folder.rglob("*") if file.suffix == ".ibd" or file.name.startswith(("ib", "undo", "#i"))]
    return sum(
        file.stat().st_blocks * 512
        for file in files
        if file.is_file() and not any(part.startswith(redo) for part in file.relative_to(folder).parts)
    )


def test_tables_and_binary_logs_are_as_large_as_their_files(server: Any) -> None:
    found = look(managed(server))
    data = server.folder / "data"
    assert (found.table_gap, found.binary_log_gap) == ("none", "none")
    assert found.table_bytes == pytest.approx(written(data), rel=0.1)
    logs = sum(file.stat().st_size for file in data.glob("log.0*"))
    assert 20_000_000 < logs == found.binary_log_bytes


def test_what_the_account_may_not_read_is_missing_with_its_reason(server: Any) -> None:
    instance = managed(server, username="watcher", password="x")
    found = look(instance)
    assert (found.table_bytes, found.table_gap) == (None, "privilege")
    assert (found.binary_log_bytes, found.binary_log_gap) == (None, "privilege")
    assert (found.disk_bytes, found.disk_free_bytes, found.disk_gap, found.disk_source) == (
        None, None, "not_told", "none",
    )  # fmt: skip
    owner = server.connect()
    owner.run(f"GRANT PROCESS, {GRANT_LOGS[server.product]} ON *.* TO {WATCHER}")
    found = look(instance, T + EVERY_SECONDS)
    owner.run(f"REVOKE PROCESS, {GRANT_LOGS[server.product]} ON *.* FROM {WATCHER}")
    owner.close()
    assert found.table_bytes and found.binary_log_bytes


def test_a_server_without_binary_logs_has_none(shared_server: Any) -> None:
    found = look(managed(shared_server))
    assert (found.binary_log_bytes, found.binary_log_gap) == (0, "none")


def test_a_local_servers_disk_is_that_of_this_machine(shared_server: Any, instance: Any) -> None:
    found = look(instance)
    disk = shutil.disk_usage(shared_server.folder)
    assert (found.disk_source, found.disk_gap) == ("disk", "none")
    assert found.disk_bytes == pytest.approx(disk.used + disk.free, rel=0.01)
    assert found.disk_free_bytes == pytest.approx(disk.free, rel=0.1)


def test_the_plugin_disks_tells_the_free_disk_to_an_account_with_file(own_server: Callable[..., Any]) -> None:
    if not DISKS.is_file():
        pytest.skip(f"{DISKS} is not here: install mariadb-server, or set FQC_DISKS_LIBRARY")
    server = own_server(configured={**CONFIGURATION, "plugin_maturity": "unknown"})
    shutil.copy(DISKS, server.folder / "plugins" / "disks.so")
    owner = server.connect()
    owner.run(f"CREATE USER {WATCHER} IDENTIFIED BY 'x'")
    owner.run(f"GRANT PROCESS ON *.* TO {WATCHER}")
    instance = managed(server, username="watcher", password="x")
    unsized(instance)
    assert look(instance).disk_gap == "not_told"
    owner.run("INSTALL SONAME 'disks'")
    assert look(instance, T + 1000).disk_gap == "privilege"
    owner.run(f"GRANT FILE ON *.* TO {WATCHER}")
    found = look(instance, T + 2000)
    owner.close()
    disk = shutil.disk_usage(server.folder)
    assert (found.disk_source, found.disk_gap) == ("disk", "none")
    assert found.disk_bytes == pytest.approx(disk.used + disk.free, rel=0.01)
    assert found.disk_free_bytes == pytest.approx(disk.free, rel=0.1)


def disks(*rows: tuple[str, int, int], folder: str = "/var/lib/mysql/") -> Any:
    told = [{"Path": path, "Used": str(used), "Available": str(free)} for path, used, free in rows]
    return SimpleNamespace(named_rows=lambda statement: told, variable=lambda name: folder)


def test_the_disk_of_the_longest_path_above_the_data_folder_counts() -> None:
    told = disks(("/", 10, 10), ("/var/lib/mysql", 30, 10), ("/var/lib/my", 5, 5), ("/var/lib/mysql/tmp", 1, 1))
    found = storage._on_disk(Storage(0, storage.StorageGap.NONE, 0, storage.StorageGap.NONE), told, MARIADB)
    assert (found.disk_bytes, found.disk_free_bytes) == (40 * 1024, 10 * 1024)


@pytest.mark.parametrize("sent", [None, "-1", "nan", "9" * 30])
def test_what_is_no_number_of_bytes_is_missing(sent: str | None) -> None:
    server = SimpleNamespace(set_session=lambda *value: None, value=lambda query: sent)
    assert storage._tables(server, MYSQL, "8.4.0") == (None, "not_told")


def unsized(instance: Any) -> None:
    """Gives the instance a class whose storage is not known."""
    found = InstanceClass.objects.create(
        name="own", cpu_count=1, memory_bytes=GIB, memory_reserve_bytes=0, max_connections=100, storage_bytes=None
    )
    Instance.objects.filter(pk=instance.pk).update(instance_class=found)


def test_the_storage_of_the_class_counts_where_the_server_tells_no_disk(shared_mysql: Any) -> None:
    instance = managed(shared_mysql)
    found = look(instance)
    allocated = instance.instance_class.storage_bytes
    assert (found.disk_source, found.disk_gap, found.disk_bytes) == ("allocated", "not_told", allocated)
    assert found.table_bytes is not None and found.disk_free_bytes == allocated - found.table_bytes
    unsized(instance)
    found = look(instance, T + EVERY_SECONDS)
    assert (found.disk_source, found.disk_bytes, found.disk_free_bytes) == ("none", None, None)


@pytest.mark.parametrize("kind", ["shared_server", "shared_mysql"])
def test_a_sum_that_takes_too_long_is_ended_by_the_server(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    instance = managed(request.getfixturevalue(kind))
    monkeypatch.setattr(storage, "SUM_SECONDS", 1)
    product: LocalProduct = MARIADB if kind == "shared_server" else MYSQL
    columns = "information_schema.COLUMNS"
    endless = f"SELECT COUNT(*) FROM {columns} a, {columns} b, {columns} c"
    monkeypatch.setattr(storage, "tablespace_sum", lambda version: endless)
    found = look(instance)
    assert (found.table_bytes, found.table_gap) == (None, "too_slow"), product.name
    assert found.binary_log_bytes == 0


def test_servers_are_read_every_five_minutes_and_one_that_fails_costs_no_other_its_figures(shared_server: Any) -> None:
    instance = managed(shared_server)
    gone = instance_make(port=1)
    looked = [look(instance, at).at for at in (T, T + EVERY_SECONDS - 1, T + EVERY_SECONDS, T - 5000)]
    assert looked == [T, T, T + EVERY_SECONDS, T - 5000]
    assert StorageLook.objects.get(pk=gone.pk).at is None
    assert not LookFault.objects.exists()  # a server that does not answer is no fault of its answers


def test_samples_have_the_newest_figures_until_they_are_old(shared_server: Any, connections: Connections) -> None:
    instance = managed(shared_server)
    found = look(instance)
    for at in (T, T + 15, T + polling.STORAGE_LASTS_SECONDS + 15):
        polling.poll_round(at, connections)
    samples = Sample.objects.filter(instance_id=instance.pk).order_by("at")
    # The first round of an instance has nothing before it, and no storage either.
    assert [each.table_bytes for each in samples] == [None, found.table_bytes, None]
    assert [each.disk_free_bytes for each in samples] == [None, found.disk_free_bytes, None]
    assert "table_bytes" in Latest.objects.get(pk=instance.pk).growth


def test_the_api_tells_the_figures_and_what_is_missing(shared_mysql: Any, viewer: Any) -> None:
    instance = managed(shared_mysql)
    path = f"/api/v1/instances/{instance.pk}/storage"
    assert viewer.get(path).json()["at"] is None
    found = look(instance)
    assert viewer.get(path).json() == {
        "at": float(T), "table_bytes": found.table_bytes, "table_gap": "none", "binary_log_bytes": 0,
        "binary_log_gap": "none", "disk_bytes": found.disk_bytes, "disk_free_bytes": found.disk_free_bytes,
        "disk_gap": "not_told", "disk_source": "allocated",
    }  # fmt: skip


@pytest.mark.parametrize(("free", "opens"), [(9, True), (11, False), (None, False)])
def test_a_disk_that_is_nearly_full_opens_an_incident(free: int | None, opens: bool) -> None:
    instance = instance_make()
    AlertRule.objects.exclude(pk="alr-disk-full").delete()
    partitions_ensure(Sample, T, T + 400)
    for at in range(T, T + 400, 15):
        Sample.objects.create(instance_id=instance.pk, at=at, seconds=15, disk_free_bytes=free, disk_bytes=free and 100)
        evaluate(at + 1)
    assert [each.severity for each in Incident.objects.all()] == (["critical"] if opens else [])
