"""One-off commands of the control plane (`manage.py ...`), each with its own log."""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from stack.layout import BACKEND, PYTHON, RunDir
from stack.service import failure

_LIMIT_SECONDS = 300


def run(name: str, arguments: list[str], run_dir: RunDir, environment: Mapping[str, str]) -> None:
    """Runs a command of `manage.py` to its end. All its output is in its log `name`. Raises Problem, with the end of
    the log, if it fails."""
    with run_dir.log(name).open("wb") as log:
        _run(name, arguments, run_dir, environment, said=log, log=log)


def ask(name: str, arguments: list[str], run_dir: RunDir, environment: Mapping[str, str]) -> str:
    """Runs a command of `manage.py` to its end and returns its standard output, which may contain passwords.

    So its log `name` has only its standard error. Raises Problem, with the end of the log, if it fails.
    """
    with run_dir.log(name).open("wb") as log:
        return _run(name, arguments, run_dir, environment, said=subprocess.PIPE, log=log).decode()


def _run(
    name: str,
    arguments: list[str],
    run_dir: RunDir,
    environment: Mapping[str, str],
    *,
    said: IO[bytes] | int,
    log: IO[bytes],
) -> bytes:
    try:
        done = subprocess.run(
            [str(PYTHON), "manage.py", *arguments, "--skip-checks"],  # the checks load every view
            cwd=BACKEND,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=log,
            timeout=_LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise failure(name, run_dir, f"did not end within {_LIMIT_SECONDS} s") from error
    if done.returncode != 0:
        raise failure(name, run_dir, f"failed with exit code {done.returncode}")
    return bytes(done.stdout or b"")


class Steps:
    """Prints which of how many steps is at work, and how long it took. `scripts/step` does the same for the earlier
    steps.

    `before` is the number of those earlier steps, `count` the number of steps to come.
    """

    def __init__(self, before: int, count: int) -> None:
        self._number, self._total = before, before + count

    @contextmanager
    def next(self, words: str) -> Iterator[None]:
        self._number += 1
        begun = time.monotonic()
        progress(f"step {self._number} of {self._total}: {words}")
        yield
        progress(f"step {self._number} of {self._total}: done after {time.monotonic() - begun:.0f} s")


def progress(words: str) -> None:
    """Prints to standard error, so that `--json` on standard output stays clean."""
    print(words, file=sys.stderr, flush=True)
