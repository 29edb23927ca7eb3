"""A process that can be killed, paused and started again, with all of its children."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from threading import Lock

BACKEND = Path(__file__).parents[1]


class Process:
    def __init__(self, name: str, command: list[str], environment: dict[str, str], log: Path) -> None:
        self.name, self._command, self._environment, self._log = name, command, environment, log
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def start(self) -> None:
        """Starts the process unless it runs."""
        with self._lock:
            if self._process is not None and self._process.poll() is None:
                return
            with self._log.open("ab") as log:
                self._process = subprocess.Popen(
                    self._command, cwd=BACKEND, env=self._environment, stdout=log, stderr=log, start_new_session=True
                )

    def kill(self) -> None:
        """Kills the process and its children at once, like a power failure."""
        self._signal(signal.SIGKILL)
        with self._lock:
            if self._process is not None:
                self._process.wait()

    def kill_child(self) -> None:
        """Kills one of the children that do the work. The parent may notice."""
        for child in self._children()[:1]:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, which: signal.Signals) -> None:
        with self._lock, suppress(ProcessLookupError):
            if self._process is not None and self._process.poll() is None:
                os.killpg(self._process.pid, which)

    def _children(self) -> list[int]:
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                return []
            parent = self._process.pid
        try:
            return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
        except OSError:
            return []
