"""Files of an installation are readable by its own user only: the run directory, the database file, and files of all
processes.

Files of an earlier version, which used the umask of the user who started it, are closed at the next start.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

OTHERS = 0o077  # the permission bits for other users of the machine


def keep_private() -> None:
    """Sets the umask of this process and its children, so that only the owner can read the files that they make.

    Not for commands that write into a checkout.
    """
    os.umask(OTHERS)


def private_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _close(folder)


def private_database(file: Path) -> None:
    """Makes the SQLite file, if its folder exists, and removes other users' access to it.

    SQLite gives its other files (-wal, -shm) the same mode.
    """
    if file.parent.is_dir():
        file.touch(0o600)
    for path in (file, *(file.with_name(file.name + ending) for ending in ("-wal", "-shm", "-journal"))):
        if path.exists():
            _close(path)


def _close(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & OTHERS:
        with suppress(PermissionError):  # another user's file, such as the root of a mounted volume
            path.chmod(mode & ~OTHERS)
