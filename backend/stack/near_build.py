"""Builds `fqc-near` while the stack runs, and starts it when it is built.

The build takes minutes, and no page needs it. It is a process of the stack like any other: recorded, marked, ended by
`down`. The build holds the lock of a file that names its server. The control plane reads the file and the lock, so that
it does not take a build that died for a running one.
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
# Low priority, since pages and the demo matter more.
_NICE = ["nice", "-n", "10"]
# Variables of a `make` that called this: its job server's file descriptors are not open here.
_OF_MAKE = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CARGO_MAKEFLAGS"}
# `up` and `down` hold the lock of the run directory for less than this.
_PATIENCE_SECONDS = 600.0
# A reader takes a shared lock for a moment, to see whether the build holds the lock.
_READERS_SECONDS = 10.0


def begin(
    run_dir: RunDir, kept: record.Record, before: str, command: Sequence[str], environment: Mapping[str, str]
) -> None:
    """Starts the build in the background unless one is running, and records its process.

    `before`: the name of the server that the near cache will stand before. `command` builds `fqc-near`.
    """
    if NAME in kept.running():
        return
    words = [str(PYTHON), "-m", "stack", NAME, "--run-dir", str(run_dir.root), "--before", before, "--", *command]
    kept.processes[NAME] = service.start(Service(NAME, words, lambda: True), run_dir, environment)
    record.save(run_dir.record, kept)


def build(run_dir: RunDir, before: str, command: Sequence[str]) -> None:
    """Builds `fqc-near`, and then starts the near cache. Runs in the background process until that is done."""
    with _marked_as_running(run_dir, before):
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
def _marked_as_running(run_dir: RunDir, before: str) -> Iterator[None]:
    """Holds the lock of the file that names the server, which shows readers that the build is running. A failure is
    written to the file."""
    with run_dir.near_build.open("a") as handle:
        if not wait_until(lambda: record.lock_taken(handle), _READERS_SECONDS):
            raise Problem("fqc-near is being built already")
        _write_state(handle, before, has_failed=False)
        try:
            yield
        except BaseException:
            _write_state(handle, before, has_failed=True)
            raise
    run_dir.near_build.unlink(missing_ok=True)


def _write_state(handle: IO[str], before: str, *, has_failed: bool) -> None:
    handle.truncate(0)
    json.dump({"before": before, "has_failed": has_failed}, handle)
    handle.flush()


def has_failed(run_dir: RunDir) -> bool:
    """Returns whether the last build of this stack reported a failure. False if none was made."""
    try:
        return bool(json.loads(run_dir.near_build.read_text())["has_failed"])
    except (FileNotFoundError, ValueError):
        return False
