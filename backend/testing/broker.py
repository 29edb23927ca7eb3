"""A private Redis or Valkey server as the broker: own folder, own port, loopback only, stopped and started by tests.

Nothing is kept over a stop: what was in its queues is lost, as it is with a broker whose machine is gone.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.ports import free_port

START_SECONDS = 60.0


def program() -> Path:
    """Debian's package of tools has the server under the name of its checker: it is what it is called."""
    found = [shutil.which(name) for name in ("valkey-server", "redis-server", "redis-check-rdb")]
    if not any(found):
        raise RuntimeError("no Valkey or Redis server program found: install the package redis-tools")
    return Path(next(path for path in found if path))


class Broker:
    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        name = "valkey-server" if "valkey" in program().name else "redis-server"
        words = [name, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)]
        self._process = subprocess.Popen([*words, "--logfile", "log"], executable=program())
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the broker did not start: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(5) == b"+PONG"
        except OSError:
            return False

    def stop(self) -> None:
        """At once, as a machine that loses power does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    made = Broker(tmp_path)
    made.start()
    yield made
    made.stop()
