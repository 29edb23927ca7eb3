"""`fqc-admin restore`: into an empty database only, and compared with what the backup says it holds."""

from __future__ import annotations

import tempfile
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from config.admin import databases
from config.admin.archive import ActionNeeded, ArchiveInfo, Contents, unpack
from controlplane.core.sealing import key_name


def read(file: Path, *, is_without_keys: bool) -> str:
    """Restores the backup into the empty database and compares the result.

    Returns the message for the user. Raises ActionNeeded if the backup does not fit this installation, or the result
    differs.
    """
    with tempfile.TemporaryDirectory(prefix="restore-", dir=settings.RUN_DIR) as folder:
        about, database = unpack(file, Path(folder))
        check(about, is_without_keys=is_without_keys)
        compare(about.contents, databases.load(database))
    rows = sum(int(count) for count, _ in about.contents.values())
    told = f"{rows} rows of {len(about.contents)} tables are restored and verified: the state of {about.made_at}.\n"
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        told += "An older version made the backup: run `fqc-admin migrate` before anything is started.\n"
    return told


def check(about: ArchiveInfo, *, is_without_keys: bool) -> None:
    """Raises ActionNeeded if the backup cannot be restored here.

    It checks everything that can be known before the database is touched.
    """
    if about.vendor != connection.vendor:
        raise ActionNeeded(f"The backup is from {about.vendor}, but FQC_DATABASE_URL names {connection.vendor}.")
    known = {".".join(each) for each in MigrationLoader(None).disk_migrations or ()}
    foreign = sorted(set(about.migrations) - known)
    if foreign:
        raise ActionNeeded(f"A newer version made the backup ({foreign[0]}): install that, or a newer one.")
    missing = sorted(set(about.sealing_keys) - {key_name(key) for key in settings.SEALING_KEYS})
    if missing and not is_without_keys:
        raise ActionNeeded(
            f"Passwords in it need the sealing keys named {', '.join(missing)}: put them into FQC_SEALING_KEYS, or into"
            f" {settings.RUN_DIR / 'secrets'}. If they are lost: --without-keys, and enter the passwords again."
        )
    if not databases.is_empty():
        raise ActionNeeded("The database is not empty: name an empty one in FQC_DATABASE_URL. Nothing was changed.")


def compare(wanted: Contents, found: Contents) -> None:
    different = sorted(table for table in wanted.keys() | found.keys() if wanted.get(table) != found.get(table))
    if different:
        raise ActionNeeded(
            f"These tables differ from the backup: {', '.join(different)}. Do not use the restored database."
        )
