"""One server process of this machine: started detached, recognised by its command line, stopped by its own pid.

Invariant: nothing is signalled unless /proc says that it runs with this instance's defaults file, and nothing that runs
with it goes unseen: not before the server has written its pid file, and not after somebody removed that.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from controlplane.gateway.errors import GatewayError

STOP_SECONDS = 60
PRIVATE = {"UMASK": "0600", "UMASK_DIR": "0700"}  # for a server, which chooses the modes of what it makes itself
# What names of settings begin with that hold keys or passwords.
SECRETS = ("FQC_SECRET_KEY", "FQC_SEALING_KEYS", "FQC_DATABASE_URL", "FQC_BROKER_URL", "OTEL_EXPORTER_OTLP")


def environment() -> dict[str, str]:
    """For a server, which needs none of the control plane's own keys and passwords."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(SECRETS)}
    return others | PRIVATE


def running_pid(pid_file: Path, program: str, argument: str) -> int | None:
    """The process of `program` with this first argument: the one that `pid_file` names, or whichever there is."""
    words = f"{program}\0{argument}\0".encode()
    with suppress(OSError, ValueError):
        pid = int(pid_file.read_text())
        if _is_process(pid) and words in _command_line(pid):
            return pid
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return next((pid for pid in pids if words in _command_line(pid)), None)


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _is_process(pid: int) -> bool:
    """The number in an old file may be a thread's by now, even one of the server that was started since."""
    try:
        return f"\nTgid:\t{pid}\n" in Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return False


def start_detached(command: list[str], log: Path) -> int:
    """Its pid. In a session of its own, without a parent that must reap it: it outlives the worker that starts it.

    What it writes is its user's alone.
    """
    words = ["/bin/sh", "-c", 'umask 077; setsid "$@" >&2 & echo $!', "sh", *command]
    log.touch(0o600)
    with log.open("ab") as output:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            check=True,
            env=environment(),
        )
    return int(done.stdout)


def has_ended(pid: int, seconds: float) -> bool:
    """Whether it ends within that time; true as soon as it does."""
    handle = _opened(pid)
    if handle is None:
        return True
    try:
        return _ended(handle, seconds)
    finally:
        os.close(handle)


def _opened(pid: int) -> int | None:
    """A handle of the process; None if there is none of that number."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        if _is_process(pid):
            raise
        return None


def stop(pid: int, *, force: bool = False) -> None:
    """Ask it to end and wait until it has; a process that is deaf for a minute is killed."""
    handle = _opened(pid)
    if handle is None:
        return
    try:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL if force else signal.SIGTERM)
            if not _ended(handle, STOP_SECONDS):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                if not _ended(handle, STOP_SECONDS):
                    raise GatewayError(f"process {pid} does not end even when killed: check the machine.")
    except PermissionError as error:
        raise GatewayError(f"process {pid} is not this account's to end: {error}") from error
    finally:
        os.close(handle)


def _ended(handle: int, seconds: float) -> bool:
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))
