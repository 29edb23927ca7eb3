"""Health of this process: any answer proves liveness; readiness tries what requests need.

Anybody may ask, and often: the database is read every time, but written to only if the last write is some seconds ago.
What has failed is tried again every time.
"""

from __future__ import annotations

import errno
import os
import tempfile
import time
from pathlib import Path

import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from controlplane.core.rate_counts import WINDOW_SECONDS, count_add

log = structlog.get_logger(__name__)
WRITTEN_FOR_SECONDS = 5.0
MIB = 1024**2
READ_ONLY, FULL, REFUSED = "read-only", "full", "refuses writes"
DISK = {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EROFS: READ_ONLY}
# States by error: PostgreSQL's SQLSTATE, and the names of SQLite's errors.
DATABASE = {"25006": READ_ONLY, "53100": FULL, "SQLITE_READONLY": READ_ONLY, "SQLITE_FULL": FULL}


class LastWrite:
    """The time at which this process last wrote successfully to the database, or to the disk, so that not every health
    check has to try again.
    """

    def __init__(self) -> None:
        self._at = -WRITTEN_FOR_SECONDS

    def is_recent(self) -> bool:
        return time.monotonic() - self._at < WRITTEN_FOR_SECONDS

    def note(self) -> None:
        self._at = time.monotonic()


DISK_WRITTEN, DATABASE_WRITTEN = LastWrite(), LastWrite()


@require_safe
def live(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    found = {"database": database_state(), "disk": disk_state()}
    if set(found.values()) == {"ok"}:
        return JsonResponse({"status": "ok", **found})
    log.warning("not_ready", **found)
    return JsonResponse({"status": "unavailable", **found}, status=503)


def database_state() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "no answer"
    if DATABASE_WRITTEN.is_recent():
        return "ok"
    try:
        count_add("readyz", int(time.time() // WINDOW_SECONDS), 1)
    except DatabaseError as error:
        said = error.__cause__
        return DATABASE.get(getattr(said, "sqlstate", "") or getattr(said, "sqlite_errorname", ""), REFUSED)
    DATABASE_WRITTEN.note()
    return "ok"


def disk_state() -> str:
    """Returns `ok` if the folders for keys, local servers and SQLite can be written to and have enough space; else what
    is wrong: `full`, `read-only` or `refuses writes`.
    """
    for folder in folders():
        free = os.statvfs(folder)
        if free.f_bavail * free.f_frsize < settings.LEAST_FREE_MIB * MIB:
            return FULL
    if DISK_WRITTEN.is_recent():
        return "ok"
    try:
        for folder in folders():
            _write(folder)
    except OSError as error:
        return DISK.get(error.errno or 0, REFUSED)
    DISK_WRITTEN.note()
    return "ok"


def folders() -> set[Path]:
    is_file = connection.vendor == "sqlite"
    return {settings.RUN_DIR} | ({Path(connection.settings_dict["NAME"]).parent} if is_file else set())


def _write(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"\0" * 4096)
        file.flush()
        os.fsync(file.fileno())
