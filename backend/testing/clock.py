"""A clock that jumps, for this process and for those that it starts.

`python -m testing.clock <file> <module> <arguments>` runs a module whose wall clock is ahead by the seconds in the
file, which may change at any time. The monotonic clock (`time.monotonic`) does not jump, as in reality. With `--alone`
before the file the database's clock stays right: only one process's machine has the wrong time.
"""

from __future__ import annotations

import runpy
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

_wall = time.time


class Clock:
    def __init__(self, file: Path) -> None:
        self.file = file
        self.jump(0)

    def jump(self, seconds: float) -> None:
        """Sets how many seconds the clock is ahead of the true time. It counts from there, not from the last jump."""
        draft = self.file.with_suffix(".new")
        draft.write_text(str(seconds))
        draft.replace(self.file)

    def python(self, *, is_alone: bool = False) -> list[str]:
        """Returns the command that starts a process with this clock; a module and its arguments follow.

        `is_alone`: the database's clock stays right.
        """
        return [sys.executable, "-m", "testing.clock", *["--alone"] * is_alone, str(self.file)]


def _patches(file: Path, *, is_alone: bool) -> dict[str, Callable[..., Any]]:
    from controlplane.core import clock

    true_shared_now = clock.shared_now

    def ahead() -> float:
        return float(file.read_text())

    def now() -> datetime:
        return datetime.fromtimestamp(_wall() + ahead(), UTC)

    def shared_now() -> datetime:
        from django.db import connection

        # otherwise the database's clock is shifted already, or right
        is_shifted = connection.vendor != "postgresql" or is_alone
        return true_shared_now() + timedelta(seconds=0 if is_shifted else ahead())

    return {
        "time.time": lambda: _wall() + ahead(),
        "django.utils.timezone.now": now,
        "celery.app.base.Celery.now": lambda app: now(),
        "controlplane.core.clock.shared_now": shared_now,
    }


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock(tmp_path / "clock")
    for name, function in _patches(made.file, is_alone=False).items():
        monkeypatch.setattr(name, function)
    return made


def main() -> None:
    is_alone = sys.argv[1] == "--alone"
    file, *words = sys.argv[1 + is_alone :]
    patch = pytest.MonkeyPatch()
    for name, function in _patches(Path(file), is_alone=is_alone).items():
        patch.setattr(name, function)
    sys.argv = words
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
