"""`fqc-admin backup`."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from config.admin import databases
from config.admin.archive import DATABASE, FORM, ActionNeeded, ArchiveInfo, pack
from controlplane.core.sealing import key_name
from controlplane.fleet.sealed import keys_needed


def write(file: Path) -> str:
    """Writes a backup of the database into a new file, while everything runs.

    Returns the message for the user. Raises ActionNeeded if the file exists or the database is empty.
    """
    if file.exists():
        raise ActionNeeded(f"{file} already exists: choose another file.")
    if databases.is_empty():
        raise ActionNeeded("The database is empty: there is nothing to back up.")
    # The first sealing key is needed as well, since new rows are sealed with it.
    keys = sorted(keys_needed() | {key_name(settings.SEALING_KEYS[0])})
    with tempfile.TemporaryDirectory(prefix=".backup-", dir=file.absolute().parent) as folder:
        database = Path(folder) / DATABASE
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        contents = databases.dump(database)
        about = ArchiveInfo(FORM, made_at, connection.vendor, migrations(), keys, contents)
        pack(file, about, database)
    rows = sum(int(count) for count, _ in contents.values())
    told = f"{file}: {rows} rows of {len(contents)} tables.\n"
    told += f"Its secrets need the sealing keys named {', '.join(keys)}. The backup does not contain them:"
    return f"{told} keep {_place_of_keys()} as well.\n"


def migrations() -> list[str]:
    return sorted(".".join(each) for each in MigrationRecorder(connection).applied_migrations())


def _place_of_keys() -> str:
    kept = settings.RUN_DIR / "secrets"
    return str(kept) if (kept / "sealing.key").exists() else "FQC_SEALING_KEYS"
