"""What an installation keeps is its own user's alone: the run directory, the database file, whatever a process writes.

Files of an earlier version, which left them to the umask of whoever started it, are closed at the next start.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

OTHERS = 0o077  # what a mode allows other users of the machine


def keep_private() -> None:
    """Files that this process and its children make. Not for commands that write into a checkout."""
    os.umask(OTHERS)


def private_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _close(folder)


def private_database(file: Path) -> None:
    """SQLite gives the files beside it the same mode."""
    if file.parent.is_dir():
        file.touch(0o600)
    for path in (file, *(file.with_name(file.name + ending) for ending in ("-wal", "-shm", "-journal"))):
        if path.exists():
            _close(path)


def _close(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & OTHERS:
        with suppress(PermissionError):  # it is somebody else's, such as a mounted volume's root
            path.chmod(mode & ~OTHERS)
