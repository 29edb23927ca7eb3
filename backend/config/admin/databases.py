"""Copies the database as it is at one moment, describes the contents of each table, and restores into an empty
database.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from config.admin.archive import ActionNeeded, Contents

RESTORING = ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction"]


def is_empty() -> bool:
    return not connection.introspection.table_names()


def dump(file: Path) -> Contents:
    """Writes a copy of the database to `file` and returns its contents, a count and a digest per table.

    Both are from the same snapshot, even if rows are written at the same time.
    """
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            _run("pg_dump", "--format=custom", f"--snapshot={cursor.fetchone()[0]}", f"--file={file}")
            return _of_postgresql(cursor)
    connection.ensure_connection()
    with closing(sqlite3.connect(file)) as copy:
        connection.connection.backup(copy)
    return _of_sqlite(file)


def load(file: Path) -> Contents:
    """Restores the copy `file` into the empty database.

    Returns the contents after that, to compare them with the backup's.
    """
    if connection.vendor == "postgresql":
        _run("pg_restore", *RESTORING, f"--dbname={connection.settings_dict['NAME']}", str(file))
        with connection.cursor() as cursor:
            return _of_postgresql(cursor)
    connection.close()
    database = Path(str(connection.settings_dict["NAME"]))
    for path in (database.with_name(database.name + ending) for ending in ("-wal", "-shm", "-journal")):
        path.unlink(missing_ok=True)
    draft = database.with_name(database.name + ".restored")
    shutil.copyfile(file, draft)
    draft.chmod(0o600)
    draft.replace(database)
    return _of_sqlite(database)


def _run(program: str, *words: str) -> None:
    """Runs a program of PostgreSQL on our database.

    Raises ActionNeeded if it is missing or fails. The password is passed so that no other user of the machine can read
    it.
    """
    path = shutil.which(program)
    if path is None:
        raise ActionNeeded(f"{program} is not installed: install the package postgresql-client.")
    facts = connection.settings_dict
    names = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD", "PGDATABASE": "NAME"}
    given = {name: str(facts[fact]) for name, fact in names.items() if facts[fact]}
    done = subprocess.run([path, *words], env=os.environ | given, capture_output=True, text=True)
    if done.returncode:
        raise ActionNeeded(f"{program}: {done.stderr.strip()}")


def _of_postgresql(cursor: Any) -> Contents:
    contents: Contents = {}
    for table in sorted(connection.introspection.table_names(cursor)):
        name = connection.ops.quote_name(table)
        digest = "coalesce(sum(hashtextextended(one::text, 0)), 0)"
        cursor.execute(f"SELECT count(*)::text, {digest}::text FROM {name} one")  # noqa: S608 # names of our own tables
        contents[table] = list(cursor.fetchone())
    return contents


def _of_sqlite(file: Path) -> Contents:
    contents: Contents = {}
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
        damage = [found for (found,) in database.execute("PRAGMA integrity_check") if found != "ok"]
        if damage:
            raise ActionNeeded(f"The database is damaged: {damage[0]}.")
        names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        for (table,) in names.fetchall():
            count = digest = 0
            for row in database.execute(f'SELECT * FROM "{table}"'):  # noqa: S608 # names of our own tables
                count += 1
                digest += int.from_bytes(hashlib.blake2b(repr(row).encode(), digest_size=8).digest())
            contents[table] = [str(count), str(digest)]
    return contents
