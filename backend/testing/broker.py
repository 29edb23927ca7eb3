"""A private message broker like in production: own folder, own port, loopback only, stopped and started by tests.

Redis or Valkey keeps nothing over a stop, so its queues are lost, as if the broker's machine was gone. RabbitMQ keeps
durable messages. It is not a package that the test suites require; if it is not installed, its tests are skipped.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.ports import free_port

START_SECONDS = 180.0
RABBITMQ_SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


def program() -> Path:
    """Returns the path of the Redis or Valkey server program. Raises RuntimeError if there is none.

    Debian's tools package has it under the name of its checker; the program is a server if it is called by a server's
    name.
    """
    found = [shutil.which(name) for name in ("valkey-server", "redis-server", "redis-check-rdb")]
    if not any(found):
        raise RuntimeError("no Valkey or Redis server program found: install the package redis-tools")
    return Path(next(path for path in found if path))


class Broker:
    """A Redis or Valkey broker. `url` is its address for Celery. It does not run before `start`."""

    scheme, path = "redis", "0"
    # Bytes to send to a broker that is ready, and the beginning of its answer.
    greeting, answer = b"PING\r\n", b"+PONG"

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"{self.scheme}://127.0.0.1:{self.port}/{self.path}"
        self._process: subprocess.Popen[bytes] | None = None

    def _popen(self) -> subprocess.Popen[bytes]:
        name = "valkey-server" if "valkey" in program().name else "redis-server"
        words = [name, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)]
        return subprocess.Popen([*words, "--logfile", "log"], executable=program(), start_new_session=True)

    def start(self) -> None:
        self._process = self._popen()
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the broker did not start: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(self.greeting)
                return connection.recv(len(self.answer)) == self.answer
        except OSError:
            return False

    def stop(self) -> None:
        """Kills the broker at once, like a power failure. It may be started again."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """Ends helper processes. To be called once the broker was stopped for good."""


class RabbitMQ(Broker):
    scheme, path = "amqp", "/"
    greeting, answer = b"AMQP\x00\x00\x09\x01", b"\x01"  # the protocol's header; the type of a method frame

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        # Runs our own Erlang port mapper: one that a node starts by itself would be left running.
        self._directory_port, self._cluster_port = free_port(), free_port()
        words = ["epmd", "-address", "127.0.0.1", "-port", str(self._directory_port)]
        self._directory = subprocess.Popen(words)

    def _popen(self) -> subprocess.Popen[bytes]:
        (self.folder / "plugins").write_text("[].")
        settings = {
            "HOME": self.folder, "ERL_EPMD_PORT": self._directory_port, "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"fqc-{self.port}@localhost", "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": self.port, "RABBITMQ_DIST_PORT": self._cluster_port,
            "RABBITMQ_MNESIA_BASE": self.folder / "data", "RABBITMQ_LOG_BASE": self.folder / "logs",
            "RABBITMQ_ENABLED_PLUGINS_FILE": self.folder / "plugins", "RABBITMQ_PID_FILE": self.folder / "pid",
            "RABBITMQ_CONFIG_FILE": self.folder / "none", "RABBITMQ_CONF_ENV_FILE": self.folder / "none",
        }  # fmt: skip
        place = os.environ | {name: str(value) for name, value in settings.items()}
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen([RABBITMQ_SERVER], env=place, stdout=log, stderr=log, start_new_session=True)

    def close(self) -> None:
        self._directory.kill()
        self._directory.wait()


@pytest.fixture
def broker(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Broker]:
    if getattr(request, "param", "redis") == "redis":
        made = Broker(tmp_path)
    elif not RABBITMQ_SERVER.exists():
        # `make test` does not install it, because its package would start a system-wide service.
        pytest.skip(f"RabbitMQ is not installed here: {RABBITMQ_SERVER} is missing")
    else:
        made = RabbitMQ(tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        made.close()
