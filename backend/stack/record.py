"""The facts that a stack keeps between commands: `stack.json` in its run directory, written atomically, and a lock."""

import fcntl
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from stack.ports import Ports
from stack.problem import Problem
from stack.process import Identity, is_alive
from stack.waiting import wait_until


@dataclass
class Record:
    stack_id: str = field(default_factory=lambda: secrets.token_hex(16))
    ports: Ports | None = None
    # The number of servers that the last `up` asked for.
    fleet_size: int = 0
    # The revisions that the running processes were started from. If the present revision differs, they are out of date.
    revision: str = ""
    near_revision: str = ""
    # The processes that were started, by the name of their service. They may have ended: see `running`.
    processes: dict[str, Identity] = field(default_factory=dict)

    def running(self) -> dict[str, Identity]:
        return {name: identity for name, identity in self.processes.items() if is_alive(identity)}


def load(path: Path) -> Record:
    try:
        stored = json.loads(path.read_text())
    except FileNotFoundError:
        return Record()
    except ValueError as error:
        raise Problem(f"{path} is damaged ({error}); remove it, then run the command again") from error
    return Record(
        stack_id=stored["stack_id"],
        ports=Ports(**stored["ports"]) if stored["ports"] else None,
        fleet_size=stored["fleet_size"],
        revision=stored["revision"],
        near_revision=stored.get("near_revision", ""),
        processes={name: Identity(**values) for name, values in stored["processes"].items()},
    )


def save(path: Path, record: Record) -> None:
    text = json.dumps(
        {
            "stack_id": record.stack_id,
            "ports": record.ports.as_dict() if record.ports else None,
            "fleet_size": record.fleet_size,
            "revision": record.revision,
            "near_revision": record.near_revision,
            "processes": {name: identity.as_dict() for name, identity in record.processes.items()},
        },
        indent=2,
    )
    draft = path.with_suffix(".new")
    draft.write_text(text + "\n")
    draft.replace(path)


@contextmanager
def locked(path: Path, patience_seconds: float = 0.0) -> Iterator[None]:
    """Holds the lock of this file, so that only one command at a time works on a run directory.

    Raises Problem if another command still holds it after `patience_seconds`.
    """
    with path.open("w") as handle:
        if not wait_until(lambda: lock_taken(handle), patience_seconds):
            raise Problem(f"another stack command is at work on {path.parent}; wait for it to end")
        yield


def lock_taken(handle: IO[str]) -> bool:
    """Locks an open file; the lock ends with the process. Returns false if another process holds it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
