"""Builds `fqc-near` while the stack runs already, and starts it once it is there.

It takes minutes, and no page needs it. The build is a process of the stack like any other: recorded, marked, ended by
`down`. While it runs it holds the lock of a file that says for which server, so that the control plane, which reads
the file, too, never takes a build that died for one that is at work.
"""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO

from stack import fleet, near, record, service
from stack.environment import for_children
from stack.layout import NEAR_PROGRAM, PYTHON, REPOSITORY, RunDir
from stack.problem import Problem
from stack.service import Service
from stack.waiting import wait_until

NAME = "near-build"
# The page and the demo come first.
_NICE = ["nice", "-n", "10"]
# A `make` above would have its own jobs counted, by files that are not open here.
_OF_MAKE = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CARGO_MAKEFLAGS"}
# `up` and `down` hold the lock of the run directory for less.
_PATIENCE_SECONDS = 600.0
# A reader takes a shared lock for a moment, to see whether the build holds the lock.
_READERS_SECONDS = 10.0


def begin(
    run_dir: RunDir, kept: record.Record, before: str, command: Sequence[str], environment: Mapping[str, str]
) -> None:
    """Starts the build, unless one is at work."""
    if NAME in kept.running():
        return
    words = [str(PYTHON), "-m", "stack", NAME, "--run-dir", str(run_dir.root), "--before", before, "--", *command]
    kept.processes[NAME] = service.start(Service(NAME, words, lambda: True), run_dir, environment)
    record.save(run_dir.record, kept)


def build(run_dir: RunDir, before: str, command: Sequence[str]) -> None:
    """Builds, then starts the near cache: this is the process in the background."""
    with _told(run_dir, before):
        _build(command)
        with record.locked(run_dir.lock, _PATIENCE_SECONDS):
            kept = record.load(run_dir.record)
            if kept.ports is None:
                raise Problem(f"{run_dir.root} holds no stack any more")
            near.ensure(run_dir, kept, fleet.listed(run_dir, kept), for_children(run_dir, kept.ports, kept.stack_id))


def _build(command: Sequence[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in _OF_MAKE}
    done = subprocess.run([*_NICE, *command], cwd=REPOSITORY, env=environment, check=False)
    if done.returncode != 0 or not NEAR_PROGRAM.exists():
        raise Problem(f"fqc-near could not be built; try it with: make near (exit code {done.returncode})")


@contextmanager
def _told(run_dir: RunDir, before: str) -> Iterator[None]:
    """While the lock is held, it is being built."""
    with run_dir.near_build.open("a") as handle:
        if not wait_until(lambda: record.lock_taken(handle), _READERS_SECONDS):
            raise Problem("fqc-near is being built already")
        _tell(handle, before, has_failed=False)
        try:
            yield
        except BaseException:
            _tell(handle, before, has_failed=True)
            raise
    run_dir.near_build.unlink(missing_ok=True)


def _tell(handle: IO[str], before: str, *, has_failed: bool) -> None:
    handle.truncate(0)
    json.dump({"before": before, "has_failed": has_failed}, handle)
    handle.flush()


def has_failed(run_dir: RunDir) -> bool:
    """Whether the last build ended without a program, by its own account."""
    try:
        return bool(json.loads(run_dir.near_build.read_text())["has_failed"])
    except (FileNotFoundError, ValueError):
        return False
