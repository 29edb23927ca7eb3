"""MariaDB servers on this control plane's own machine: one folder each, loopback only, own account.

<root>/<name>/my.cnf          what the control plane needs of the server
              configured.cnf  what people configured; rewritten by change sets
              data/ plugins/ tmp/ error.log server.pid server.sock
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from controlplane.gateway import process
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.names import ENGINE_NAMES
from controlplane.gateway.server import Limits, open_server

READY_SECONDS = 120  # less than the lease of a change
LOOK_EVERY_SECONDS = 0.05
ANSWER_SECONDS = 5
SERVER = "mariadbd"
ENGINE_FILE = "fqc.so"
QUOTED = re.compile(r"""(?<!\w)['"`](.*?)(['"`][^'"`]*)?$""")  # to the last quote: what is quoted may hold quotes


class LocalServerError(GatewayError):
    status, code, title = 502, "local_server_failed", "The local server failed"


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _program(name: str) -> str:
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if found is None:
        raise LocalServerError(f"{name} is not installed: install the package mariadb-server-core.")
    return found


def server_program() -> str:
    return _program(SERVER)


@dataclass(frozen=True)
class LocalServer:
    """An endpoint that the gateway connects to, too."""

    host: ClassVar = "127.0.0.1"
    is_tls_required: ClassVar = False
    tls_ca: ClassVar = ""

    folder: Path
    port: int
    username: str
    password: str

    @property
    def defaults(self) -> Path:
        return self.folder / "my.cnf"

    @property
    def log(self) -> Path:
        return self.folder / "error.log"

    @property
    def pid(self) -> int | None:
        return process.running_pid(self.folder / "server.pid", SERVER, self._marked)

    @property
    def _marked(self) -> str:
        """The argument by which its process is known."""
        return f"--defaults-file={self.defaults}"

    @property
    def is_made(self) -> bool:
        return (self.folder / "data" / "mysql").is_dir()

    def make(self, configured: Mapping[str, str]) -> None:
        """Folder, configuration, empty databases. Safe to repeat after a failure in the middle."""
        for name in ("plugins", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.configure(configured)
        if not self.is_made:
            self._install_databases()
        self._write_account()

    def _base_configuration(self) -> str:
        machine_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        lines = [
            "[mariadbd]",
            f"user={_user()}",
            f"datadir={self.folder / 'data'}",
            f"socket={self.folder / 'server.sock'}",
            f"pid-file={self.folder / 'server.pid'}",
            f"log-error={self.log}",
            f"plugin-dir={self.folder / 'plugins'}",
            # A server that starts removes what it takes for leftovers of its own from a shared folder.
            f"tmpdir={self.folder / 'tmp'}",
            f"port={self.port}",
            "bind-address=127.0.0.1",
            "skip-name-resolve",
            "skip-log-bin",
            "innodb-log-file-size=32M",
            # Of the server's default of 128 MB, which only MyISAM tables use, a small class would lose a quarter.
            "key-buffer-size=16M",
            "userstat=1",
            "query-cache-type=0",
            "query-cache-size=0",
            # Address space only: without it the pool cannot grow beyond its size at the start. The server asks for up
            # to 8 MiB more, to align it, and Linux refuses what is more than the machine's memory.
            f"loose-innodb-buffer-pool-size-max={machine_bytes * 3 // 4 // 1024**2}M",
            f"!include {self.folder / 'configured.cnf'}",
        ]
        return "\n".join(lines) + "\n"

    def configure(self, configured: Mapping[str, str]) -> None:
        """What people configured, for the next start. Replaced in one move: a reader sees the old file or the new."""
        lines = ["[mariadbd]"]
        for name, value in sorted(configured.items()):
            option = "loose-" + ENGINE_NAMES[name] if name in ENGINE_NAMES else name
            lines.append(f"{option}={_option(value)}")
        draft = self.folder / "configured.cnf.new"
        draft.write_text("\n".join(lines) + "\n")
        draft.replace(self.folder / "configured.cnf")

    def _install_databases(self) -> None:
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        done = subprocess.run(
            [
                _program("mariadb-install-db"),
                # The first of its arguments. What the machine's own server is configured with has no place here.
                "--no-defaults",
                f"--datadir={self.folder / 'data'}",
                f"--tmpdir={self.folder / 'tmp'}",
                f"--user={_user()}",
                "--auth-root-authentication-method=socket",
                "--skip-test-db",
                "--skip-name-resolve",
                # It looks up the machine's name, which nothing here goes by, and gives up where that is unknown.
                "--force",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        if done.returncode:
            raise LocalServerError(f"mariadb-install-db failed in {self.folder}: {done.stdout.strip()[-1000:]}")

    def _write_account(self) -> None:
        """The server runs this file at its first start; it is removed as soon as the account works."""
        file = self.folder / "account.sql"
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        account = f"'{self.username}'@'127.0.0.1'"
        with os.fdopen(descriptor, "w") as text:
            text.write(f"CREATE OR REPLACE USER {account} IDENTIFIED BY '{self.password}';\n")
            text.write(f"GRANT ALL PRIVILEGES ON *.* TO {account} WITH GRANT OPTION;\n")

    def start(self) -> None:
        """Returns when the account can log in; says what the server's log says if that does not happen."""
        before = self.log.stat().st_size if self.log.exists() else 0
        pid = self.pid or self._start()
        deadline = time.monotonic() + READY_SECONDS
        while not self._answers():
            if process.has_ended(pid, LOOK_EVERY_SECONDS) or time.monotonic() > deadline:
                raise LocalServerError(self._failure(before))
        (self.folder / "account.sql").unlink(missing_ok=True)

    def _start(self) -> int:
        if not is_free(self.port):
            raise LocalServerError(
                f"port {self.port} on 127.0.0.1 is taken by another program: end that, then start the server again."
            )
        self.defaults.write_text(self._base_configuration())
        account = self.folder / "account.sql"
        init = [f"--init-file={account}"] * account.exists()
        return process.start_detached([server_program(), self._marked, *init], self.log)

    def _answers(self) -> bool:
        try:
            open_server(self, Limits((f"{self.host}/32",), ANSWER_SECONDS)).close()
        except GatewayError:
            return False
        return True

    def _failure(self, before: int) -> str:
        said = self.log.read_bytes()[before:] if self.log.exists() else b""
        lines = said.decode(errors="replace").splitlines()
        # The first errors are the cause, the last their consequences; and the log may be gone before it is read.
        telling = [self._without_data(line) for line in lines if "[ERROR]" in line][:4]
        return f"the server in {self.folder} did not start: " + (" | ".join(telling) or "its error.log says more.")

    def _without_data(self, line: str) -> str:
        """What the log quotes may come from any file that the server was told to read: it is told if it was
        configured."""
        configured = (self.folder / "configured.cnf").read_text() + self._base_configuration()
        return QUOTED.sub(lambda quote: quote[0] if quote[1] in configured else "'...'", line)

    def stop(self, *, force: bool = False) -> None:
        pid = self.pid
        if pid is not None:
            process.stop(pid, force=force)

    def restart(self) -> None:
        self.stop()
        self.start()

    def install_engine_file(self, library: Path) -> None:
        """Beside the old file first, then in its place: a running server keeps the old one mapped."""
        if not library.is_file():
            raise LocalServerError(f"{library} does not exist: build the engine, or set FQC_ENGINE_LIBRARY.")
        draft = self.folder / "plugins" / f"{ENGINE_FILE}.new"
        shutil.copyfile(library, draft)
        draft.replace(self.folder / "plugins" / ENGINE_FILE)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _user() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name


def _option(value: str) -> str:
    if "\n" in value or "\r" in value:
        raise LocalServerError("a value with a line break cannot be written to a configuration file.")
    is_plain = value.replace("_", "").replace("-", "").replace(".", "").isalnum()
    return value if is_plain else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
