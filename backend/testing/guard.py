"""Ends what a test run leaves, even if the run was killed and could not clean up itself.

`python -m testing.guard <run directory>` waits for the end of its input, whose other end only the run holds. Then every
process with the run directory as its mark is ended, and the directory removed. Standard library only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stack import process

# The mark in the environment of everything that the run starts.
MARK = "TEST_RUN_DIR"
# The run directory of the process that started the workers, which ends after them; or of the only one.
OF_ALL = "TEST_RUN_DIR_OF_ALL"
GRACE_SECONDS = 5.0
BACKEND = Path(__file__).parents[1]


@contextmanager
def guarded(prefix: str) -> Iterator[str]:
    """Yields the path of a new run directory. In the end it is removed, and processes started in between are ended.

    Another process, the guard, does that, so that it happens even if this process is killed.
    """
    folder = tempfile.mkdtemp(prefix=prefix)
    # A session of its own, so that an interrupt from the terminal does not reach it.
    words = [sys.executable, "-m", "testing.guard", folder]
    guard = subprocess.Popen(words, cwd=BACKEND, stdin=subprocess.PIPE, start_new_session=True)
    os.environ[MARK] = folder
    os.environ.setdefault(OF_ALL, folder)
    try:
        yield folder
    finally:
        guard.communicate()


def run_folder() -> Path:
    """Returns the directory that all workers of the run share."""
    return Path(os.environ[OF_ALL])


def servers_left() -> list[str]:
    """Returns the command lines of database servers that this run has started and that still run."""
    lines = (_command_line(left) for left in process.marked(os.environ[MARK], MARK))
    return [line for line in lines if "mariadbd" in line or "mysqld" in line]


def _command_line(identity: process.Identity) -> str:
    try:
        return Path(f"/proc/{identity.pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def main() -> None:
    folder = sys.argv[1]
    sys.stdin.buffer.read()
    while left := process.marked(folder, MARK):
        process.stop(left, GRACE_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
