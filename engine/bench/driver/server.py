"""A private server: its own folder, loopback only, gone when the measurement ends.

Invariant: only processes started here are ever signalled.
Deliberately absent: any setting that favours one configuration; those are in configuration.py.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pymysql

from driver.product import MARIADB, Product

START_SECONDS = 600
STOP_SECONDS = 120
SCHEMA = "sbtest"
USER = "bench"
# These settings are the same for every configuration, and are written into every result.
SETTINGS = (
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    "--skip-log-bin",
    "--max-connections=1200",
    "--max-prepared-stmt-count=1000000",
    "--table-open-cache=4096",
    "--back-log=1200",
    "--innodb-buffer-pool-size=1G",
    # Commits do not wait for the disk. What remains to be measured is processor time, where a cache's own cost shows
    # most.
    "--innodb-flush-log-at-trx-commit=2",
)
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class ServerFailed(RuntimeError):
    """A server did not start, does not run or could not be created; the message contains its log."""


class Server:
    def __init__(self, folder: Path, certificates: Path, product: Product = MARIADB) -> None:
        self.folder = folder
        self.product = product
        self.port = free_port()
        # The port that clients and near caches connect to. It is another one if a program stands before the server.
        self.reached_at = self.port
        self._certificates = certificates
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def place(self) -> Sequence[str]:
        """Returns the options with which sysbench connects to the server."""
        return "--mysql-host=127.0.0.1", f"--mysql-port={self.reached_at}"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def install(self) -> None:
        """Creates the data directory, which must not exist, as the distribution's installer does."""
        self.folder.mkdir()
        arguments = ["--no-defaults", f"--datadir={self.data}", f"--user={getpass.getuser()}"]
        if self.product is MARIADB:
            command = ["mariadb-install-db", *arguments]
            command += ["--auth-root-authentication-method=normal", "--skip-test-db", "--force"]
        else:
            command = [self.product.program, *arguments, *self.product.settings, "--initialize-insecure"]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            raise ServerFailed(f"{command[0]} failed in {self.folder}:\n{result.stdout}{result.stderr}")

    def copy(self, folder: Path) -> Server:
        """Returns a server, not started, on a copy of this one's data in a new folder. This server must not run."""
        folder.mkdir()
        shutil.copytree(self.data, folder / "data")
        return Server(folder, self._certificates, self.product)

    def start(
        self, arguments: Sequence[str], under: Sequence[str] = (), environment: Mapping[str, str] | None = None
    ) -> None:
        """Starts the server and returns when it accepts connections. `under`: the command of a program that runs it,
        such as valgrind."""
        (self.folder / "tmp").mkdir(exist_ok=True)
        settings = (*SETTINGS, *self.product.settings)
        command = [*under, self.product.program, "--no-defaults", *settings, *self._places(), *arguments]
        with (self.folder / "output").open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **(environment or {})},
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise ServerFailed(f"{self.product.program} did not start in {self.folder}:\n{self._log()}")
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def connect(self) -> pymysql.Connection[Any]:
        return pymysql.connect(unix_socket=str(self.folder / "socket"), user="root", autocommit=True)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def status(self, pattern: str) -> dict[str, int]:
        found = self.rows(f"SHOW GLOBAL STATUS LIKE '{pattern}'")
        return {name: int(value) for name, value in found}

    @property
    def pid(self) -> int:
        if self._process is None:
            raise ServerFailed(f"the server in {self.folder} does not run")
        return self._process.pid

    def resident_bytes(self) -> int:
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * PAGE_BYTES

    def _places(self) -> list[str]:
        certificates = self._certificates
        return [
            f"--user={getpass.getuser()}",
            f"--datadir={self.data}",
            f"--socket={self.folder / 'socket'}",
            f"--tmpdir={self.folder / 'tmp'}",
            f"--pid-file={self.folder / 'pid'}",
            f"--log-error={self.folder / 'error.log'}",
            f"--port={self.port}",
            f"--ssl-ca={certificates / 'cacert.pem'}",
            f"--ssl-cert={certificates / 'server-cert.pem'}",
            f"--ssl-key={certificates / 'server-key.pem'}",
        ]

    def _answers(self) -> bool:
        try:
            self.connect().close()
        except pymysql.MySQLError:
            return False
        return True

    def _log(self) -> str:
        paths = (self.folder / "error.log", self.folder / "output")
        return "".join(path.read_text(errors="replace") for path in paths if path.exists())


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
