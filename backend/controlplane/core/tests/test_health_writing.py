"""Readiness where nothing can be written: on real file systems, and on a real PostgreSQL."""

import os
import subprocess

import pytest
from django.db import connection

from testing.web import Browser
from testing.workers import beside, until

pytestmark = pytest.mark.django_db(transaction=True)
MIB = 1024**2


@pytest.fixture
def small(tmp_path):
    """Yields the folder of a file system of 8 MiB. Skips the test if none can be mounted here."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system to fill: readiness on a full disk is not tested here")
    folder = tmp_path / "small"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no file system can be mounted here, so readiness on a full disk is not tested: {made.stderr}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder):
    with pytest.raises(OSError), (folder / "filling").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)


def readiness(url):
    status, told, _ = Browser(url).ask("/readyz")
    return status, told["disk"], told["database"]


def test_a_disk_with_less_space_than_wanted_is_told_and_so_is_its_end(small, web):
    url = web(FQC_RUN_DIR=str(small), FQC_LEAST_FREE_MIB="2")
    assert readiness(url) == (200, "ok", "ok")
    (small / "filling").write_bytes(b"x" * 7 * MIB)
    assert readiness(url) == (503, "full", "ok")
    (small / "filling").unlink()
    assert readiness(url) == (200, "ok", "ok")


def test_a_disk_on_which_nothing_can_be_written_is_told(small, web):
    url = web(FQC_RUN_DIR=str(small), FQC_LEAST_FREE_MIB="0", FQC_SECRET_KEY="k" * 50)
    fill(small)
    until(lambda: readiness(url) == (503, "full", "ok"), "a write fails, once the last one is some seconds old")
    (small / "filling").unlink()
    assert readiness(url) == (200, "ok", "ok")
    subprocess.run(["mount", "-o", "remount,ro", small], check=True)
    until(lambda: readiness(url) == (503, "read-only", "ok"), "a write fails")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL alone")
def test_a_postgresql_that_takes_no_writes_is_told(web):
    url = web()
    assert readiness(url) == (200, "ok", "ok")
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    with beside() as other:
        other.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        try:
            _reconnected(other)
            until(lambda: readiness(url) == (503, "ok", "read-only"), "a write is refused")
        finally:
            other.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
        _reconnected(other)
        assert readiness(url) == (200, "ok", "ok")


def _reconnected(other):
    """Ends all connections to this database except the test's own and `other`: a changed setting of the database only
    applies to new ones.
    """
    mine = connection.connection.info.backend_pid if connection.connection else 0
    ends = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> ALL(%s)"
    )
    other.execute(ends, [[mine, other.info.backend_pid]])


@pytest.mark.skipif(connection.vendor != "sqlite", reason="of SQLite alone")
def test_the_disk_that_sqlite_is_on_counts(small, web):
    file = small / "db.sqlite3"
    connection.cursor().execute("VACUUM INTO %s", [str(file)])
    url = web(FQC_DATABASE_URL=f"sqlite://{file}", FQC_LEAST_FREE_MIB="2")
    assert readiness(url) == (200, "ok", "ok")
    fill(small)
    assert readiness(url)[:2] == (503, "full")
