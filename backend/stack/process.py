"""Processes with a verified identity.

A pid alone is not reliable: after its process ended, the kernel may give it to an unrelated process or thread. A pid
with the start time and the boot id is unique, so these are stored and compared. Linux only, through /proc.
"""

import os
import signal
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from stack.problem import Problem
from stack.waiting import wait_until

# The name of an environment variable of everything that a stack starts, so that descendants can be found after their
# parent has ended. Its value is the stack's id.
MARK = "FQC_STACK_ID"


@dataclass(frozen=True)
class Identity:
    pid: int
    started_ticks: int
    boot_id: str

    def as_dict(self) -> dict[str, int | str]:
        return asdict(self)


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _stat_fields(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The command name may contain spaces and brackets. The fields with fixed meaning follow the last bracket.
    return text[text.rindex(")") + 2 :].split()


def identify(pid: int) -> Identity | None:
    """Returns the identity of a running process; None if it has ended, even if it was not reaped yet."""
    fields = _stat_fields(pid)
    if fields is None or fields[0] in ("Z", "X") or not _is_process(pid):
        return None
    return Identity(pid, int(fields[19]), boot_id())


def _is_process(pid: int) -> bool:
    """Returns false for a thread id: threads other than the first one of a process have numbers of their own in
    /proc.
    """
    try:
        return f"\nTgid:\t{pid}\n" in Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return False


def is_alive(identity: Identity) -> bool:
    return identify(identity.pid) == identity


def send(identity: Identity, number: signal.Signals) -> bool:
    """Sends a signal to exactly this process. Returns false, without a signal, if it has ended.

    Raises OSError if this user may not. A pidfd excludes that the pid is reused between check and signal.
    """
    if not is_alive(identity):
        return False
    try:
        handle = os.pidfd_open(identity.pid)
    except OSError:
        if is_alive(identity):
            raise
        return False  # it ended in the meantime, and the pid may now be a thread's
    try:
        if not is_alive(identity):
            return False
        signal.pidfd_send_signal(handle, number)
        return True
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)


def stop(identities: list[Identity], grace_seconds: float) -> None:
    """Asks all processes to end (SIGTERM), waits up to `grace_seconds`, and kills those that remain.

    Returns when they have ended. Raises Problem in the end if some could not be signalled.
    """
    failures: dict[Identity, OSError] = {}
    for number, patience in ((signal.SIGTERM, grace_seconds), (signal.SIGKILL, 60.0)):
        asked = [identity for identity in identities if _asked(identity, number, failures)]
        if wait_until(partial(_all_ended, asked), patience):
            break
    left = [f"process {each.pid} could not be ended: {error}" for each, error in failures.items() if is_alive(each)]
    if left:
        raise Problem(f"{'; '.join(left)}; everything else was ended. End it yourself, then run the command again")


def _asked(identity: Identity, number: signal.Signals, failures: dict[Identity, OSError]) -> bool:
    try:
        return send(identity, number)
    except OSError as error:
        failures[identity] = error
        return False


def _all_ended(identities: list[Identity]) -> bool:
    return not any(map(is_alive, identities))


def marked(value: str, mark: str = MARK) -> list[Identity]:
    """Returns all running processes but this one whose environment has the variable `mark` with this value."""
    wanted = f"{mark}={value}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if wanted in variables and (identity := identify(int(entry.name))):
            found.append(identity)
    return found
