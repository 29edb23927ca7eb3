"""A server process on this machine: started detached, recognised by its command line, stopped by its own pid.

Invariant: a process is only signalled if /proc shows that it runs with this instance's defaults file. Every process
with that file is found, also before the server has written its pid file and after that was removed.
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
PRIVATE = {"UMASK": "0600", "UMASK_DIR": "0700"}  # umasks for a server, which sets the modes of its files itself
# Prefixes of the names of settings that contain keys or passwords.
SECRETS = ("FQC_SECRET_KEY", "FQC_SEALING_KEYS", "FQC_DATABASE_URL", "FQC_BROKER_URL", "OTEL_EXPORTER_OTLP")


def environment() -> dict[str, str]:
    """Returns the environment for a server, without the control plane's own keys and passwords."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(SECRETS)}
    return others | PRIVATE


def running_pid(pid_file: Path, program: str, argument: str) -> int | None:
    """Returns the pid of the process that runs `program` with `argument` as its first argument: the one in `pid_file`
    if that is right, else found by searching; None if there is none.
    """
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
    """Returns false for a thread's id: the number in an old pid file may since belong to a thread."""
    try:
        return f"\nTgid:\t{pid}\n" in Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return False


def start_detached(command: list[str], log: Path) -> int:
    """Starts a process and returns its pid.

    It has a session of its own and no parent that must reap it, so it outlives the worker. Its output is appended to
    `log`, which only its user can read.
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
    """Waits up to `seconds` for the process to end.

    True as soon as it has ended, also if there is no such process; false if it still runs.
    """
    handle = _opened(pid)
    if handle is None:
        return True
    try:
        return _ended(handle, seconds)
    finally:
        os.close(handle)


def _opened(pid: int) -> int | None:
    """Returns a pidfd of the process, which the caller must close; None if there is no such process."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        if _is_process(pid):
            raise
        return None


def stop(pid: int, *, force: bool = False) -> None:
    """Sends the process SIGTERM, or SIGKILL with `force`, and blocks until it has ended.

    It is killed if it does not end within STOP_SECONDS. Does nothing if there is no such process. Raises GatewayError
    if it cannot be ended.
    """
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
        raise GatewayError(f"process {pid} cannot be ended by this account: {error}") from error
    finally:
        os.close(handle)


def _ended(handle: int, seconds: float) -> bool:
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))
