"""A web server with worker processes on a loopback port, in front of an application."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from driver.machine import exact_seconds
from driver.server import free_port

START_SECONDS = 600
STOP_SECONDS = 30


class WebServerFailed(RuntimeError):
    """A web server did not start; the message contains its log."""


class WebServer:
    def __init__(
        self,
        command: Callable[[int], list[str | Path]],
        environment: Mapping[str, str],
        folder: Path,
        current: Path | None = None,
    ) -> None:
        """Starts a web server on a free port, and returns when it accepts connections.

        `command` returns the command line for a port. The log is in `folder`; the working directory is `current`.
        """
        self.port = free_port()
        self._log = folder / "web.log"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command(self.port),
                cwd=current,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )
        self._wait()

    def seconds(self) -> float:
        """Returns the processor seconds that the web server's process and its present children have used so far."""
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return sum(exact_seconds(int(one)) for one in (pid, *children))

    def stop(self) -> None:
        """Ends the whole process group and returns when it is gone. PHP's workers outlive the process that started
        them."""
        self._signal(signal.SIGTERM)
        self._process.wait()
        deadline = time.monotonic() + STOP_SECONDS
        while self._signal(0):
            if time.monotonic() > deadline:
                self._signal(signal.SIGKILL)
            time.sleep(0.01)

    def _signal(self, number: int) -> bool:
        """Sends a signal to the process group; 0 sends none. Returns false if no process of the group is left."""
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return False
        return True

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise WebServerFailed(f"the web server does not serve:\n{self._log.read_text(errors='replace')}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=10).close()
        except OSError:
            return False
        return True
