"""One server process of this machine: started detached, recognised by its command line, stopped by its own pid.

Invariant: nothing is signalled unless /proc says that it runs with this instance's defaults file.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from controlplane.gateway.errors import GatewayError

STOP_SECONDS = 60


def running_pid(pid_file: Path, mark: str) -> int | None:
    """The pid in `pid_file`, if that process still runs with `mark` among its arguments."""
    try:
        pid = int(pid_file.read_text())
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    return pid if mark.encode() in arguments else None


def start_detached(command: list[str], log: Path) -> None:
    """In a session of its own and without a parent that must reap it: it outlives the worker that starts it."""
    with log.open("ab") as output:
        words = [shutil.which("setsid") or "setsid", "--fork", *command]
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=True)


def stop(pid: int, *, force: bool = False) -> None:
    """Ask it to end and wait until it has; a process that is deaf for a minute is killed."""
    with suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(handle, signal.SIGKILL if force else signal.SIGTERM)
            if not _ended(handle, STOP_SECONDS):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                if not _ended(handle, STOP_SECONDS):
                    raise GatewayError(f"process {pid} does not end even when killed: look at the machine.")
        finally:
            os.close(handle)


def _ended(handle: int, seconds: float) -> bool:
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))
