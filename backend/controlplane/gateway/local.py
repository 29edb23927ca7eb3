"""Servers on this control plane's own machine: one folder each, loopback only, own accounts.

<root>/<name>/my.cnf          settings that the control plane needs
              configured.cnf  the user's configuration; rewritten by change sets
              accounts        a digest of the accounts that the server has been given
              variables       pid of the process that answered last, and the names of its variables
              data/ plugins/ tmp/ files/ error.log server.pid server.sock

Only the owner may read all of this. The owner can log in through the socket with all privileges
(`LocalProduct.owner`). `files` stays empty: it is the only folder where a statement could read or write a file.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

import pymysql
from pymysql.cursors import Cursor

from controlplane.gateway import process
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.local_accounts import owner_password, owner_statement, statements
from controlplane.gateway.names import ENGINE_NAMES
from controlplane.gateway.product import DEFAULT_PRODUCT, LocalProduct

READY_SECONDS = 120  # must be less than the lease of a change
LOOK_EVERY_SECONDS = 0.05
OTHERS = 0o077  # the permission bits for other users of the machine
ANSWER_SECONDS = 5
MOST_LINE_BYTES = 4000  # the server reads 4096 bytes at a time and takes the rest for another line
ENGINE_FILE = "fqc.so"
PLAIN_NAME = re.compile(r"[a-z0-9_.]+")
# Matches quoted text up to the last quote of a line, since the text may contain quotes.
QUOTED = re.compile(r"""(?<!\w)['"`](.*?)(['"`][^'"`]*)?$""")


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


def _program(name: str, package: str) -> str:
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if found is None:
        raise LocalServerError(f"{name} is not installed: install the package {package}.")
    return found


def server_program(product: LocalProduct = DEFAULT_PRODUCT, program: str = "") -> str:
    """Returns the path of the program that runs servers of a product (mariadbd or mysqld): `program` if it is not
    empty, else the one installed on this machine.

    Raises LocalServerError if there is none.
    """
    return program or _program(product.program, product.package)


@dataclass(frozen=True)
class LocalServer:
    """A database server on this machine that the control plane makes, starts and stops.

    It is also an `Endpoint`: `open_server` can connect to it. `username` and `password` are those of the account that
    monitors it.
    """

    host: ClassVar = "127.0.0.1"
    is_tls_required: ClassVar = False
    tls_ca: ClassVar = ""

    folder: Path
    port: int
    username: str
    password: str
    product: LocalProduct = DEFAULT_PRODUCT
    program: str = ""

    @property
    def public_key(self) -> str:
        """The public key in PEM with which clients encrypt passwords for this server, read from its data folder; empty
        if there is none.
        """
        file = self.folder / "data" / self.product.public_key_file
        has_key = self.product.public_key_file and file.is_file()
        return file.read_text().rstrip("\0\n") if has_key else ""  # the server ends the file with a zero

    @property
    def defaults(self) -> Path:
        return self.folder / "my.cnf"

    @property
    def log(self) -> Path:
        return self.folder / "error.log"

    @property
    def pid(self) -> int | None:
        return process.running_pid(self.folder / "server.pid", self.product.program, self._marked)

    @property
    def _marked(self) -> str:
        """The command-line argument that identifies the server's process."""
        return f"--defaults-file={self.defaults}"

    @property
    def is_made(self) -> bool:
        return (self.folder / "data" / "mysql").is_dir()

    def make(self, configured: Mapping[str, str] = MappingProxyType({})) -> None:
        """Makes the server's folders, its option files and empty databases, without starting it.

        `configured` has the user's values by variable. Safe to repeat after a failure in the middle; existing databases
        are kept.
        """
        self._make_folders()
        self.configure(configured)
        if not self.is_made:
            self._install_databases()

    def _make_folders(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("plugins", "tmp", "files"):
            (self.folder / name).mkdir(mode=0o700, exist_ok=True)

    def _make_private(self) -> None:
        """Removes other users' access to the server's folder and the files in it, which an earlier version left open.

        Does nothing if the folder itself is private.
        """
        if self.folder.stat().st_mode & OTHERS:
            self.folder.chmod(0o700)
            for path in (path for path in self.folder.rglob("*") if not path.is_symlink()):
                with suppress(FileNotFoundError):  # the server may remove files at any time
                    path.chmod(path.stat().st_mode & ~OTHERS)

    def _base_configuration(self) -> str:
        lines = [
            f"[{self.product.section}]",
            *self.product.options,
            *self._pool_limit(),
            f"!include {self.folder / 'configured.cnf'}",
            # These follow the user's configuration, because the last value of an option counts.
            f"[{self.product.section}]",
            f"user={_user()}",
            f"datadir={self.folder / 'data'}",
            f"socket={self.folder / 'server.sock'}",
            f"pid-file={self.folder / 'server.pid'}",
            f"log-error={self.log}",
            f"plugin-dir={self.folder / 'plugins'}",
            # A starting server deletes files in a shared tmpdir that it takes for its own leftovers.
            f"tmpdir={self.folder / 'tmp'}",
            f"port={self.port}",
            "bind-address=127.0.0.1",
            f"secure-file-priv={self.folder / 'files'}",
        ]
        return "\n".join(lines) + "\n"

    def _pool_limit(self) -> list[str]:
        """Returns the option that reserves address space for the buffer pool; without it the pool cannot grow beyond
        its size at start. Empty for products without such an option.

        The server reserves up to 8 MiB more for alignment, and Linux refuses to reserve more than the machine's memory.
        """
        machine_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        option = self.product.pool_limit_option
        return [f"{option}={machine_bytes * 3 // 4 // 1024**2}M"] if option else []

    def configure(self, configured: Mapping[str, str]) -> None:
        """Writes the user's values, by variable, to the option file that the server reads at its next start; variables
        left out get the server's own values.

        The caller ensures that the server has these variables. Raises LocalServerError, and keeps the old file, if a
        value cannot be written as one line.
        """
        lines = [f"[{self.product.section}]"]
        for name, value in sorted(configured.items()):
            # Some variables have no option. The prefix `loose-` lets the server start; the value is set afterwards.
            lines.append(_line(ENGINE_NAMES.get(name, name), value))
        _replace(self.folder / "configured.cnf", lines)

    def variable_names(self) -> frozenset[str]:
        """Returns the lower-case names of all variables of the running server. For a stopped server they are those of
        its last run.

        Returns an empty set if the server has never answered. If a running server does not answer, the names that it
        gave since its start are returned, because a hung server may need a restart; LocalServerError if there are none.
        """
        pid = self.pid
        noted_pid, noted = self._noted_names()
        if pid is None:
            return noted
        try:
            names = self._ask_names()
        except pymysql.MySQLError as error:
            if noted_pid == pid:
                return noted
            raise LocalServerError(
                f"the server in {self.folder} does not say which variables it has: try again when it answers."
            ) from error
        if (noted_pid, noted) != (pid, names):
            _replace(self._names, [str(pid), *sorted(names)])
        return names

    def _ask_names(self) -> frozenset[str]:
        with self.as_owner() as connection, connection.cursor() as cursor:
            cursor.execute("SHOW GLOBAL VARIABLES")
            return frozenset(str(name).lower() for name, _ in cursor.fetchall())

    def _noted_names(self) -> tuple[int | None, frozenset[str]]:
        if not self._names.exists():
            return None, frozenset()
        pid, *names = self._names.read_text().split()
        return int(pid), frozenset(names)

    @property
    def _names(self) -> Path:
        return self.folder / "variables"

    def _install_databases(self) -> None:
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        name, *arguments = self.product.make_databases
        program = self._server_program if name == self.product.program else _program(name, self.product.package)
        init = self.folder / "owner.sql"
        facts = {"data": self.folder / "data", "tmp": self.folder / "tmp", "user": _user(), "init": init}
        if self.product.owner:
            _write(init, owner_statement(self.product, self.password) + "\n")
        try:
            done = subprocess.run(
                [program, *(argument.format(**facts) for argument in arguments)],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=300,
                umask=OTHERS,
                env=process.environment(),
            )
        finally:
            init.unlink(missing_ok=True)
        if done.returncode:
            raise LocalServerError(f"{name} failed in {self.folder}: {done.stdout.strip()[-1000:]}")

    def start(self) -> None:
        """Starts the server unless it is running, and blocks until its accounts can log in, for READY_SECONDS at most.

        Raises LocalServerError with lines of its log if it does not start.
        """
        before = self.log.stat().st_size if self.log.exists() else 0
        pid = self.pid or self._start()
        deadline = time.monotonic() + READY_SECONDS
        while not self._answers():
            if process.has_ended(pid, LOOK_EVERY_SECONDS) or time.monotonic() > deadline:
                raise LocalServerError(self._failure(before))
        (self.folder / "server.sock").chmod(0o700)
        self.accounts_ensure()
        self.variable_names()

    def _start(self) -> int:
        if not is_free(self.port):
            raise LocalServerError(
                f"port {self.port} on 127.0.0.1 is taken by another program: end that, then start the server again."
            )
        self._make_folders()
        self._make_private()
        _write(self.defaults, self._base_configuration())
        self._given.unlink(missing_ok=True)  # a restart also repairs accounts that were altered
        return process.start_detached([self._server_program, self._marked], self.log)

    @property
    def _server_program(self) -> str:
        return server_program(self.product, self.program)

    def _answers(self) -> bool:
        try:
            self.as_owner().close()
        except pymysql.MySQLError:
            return False
        return True

    @property
    def owner(self) -> tuple[str, str]:
        """Name and password of the account with all privileges that logs in through the server's socket; see
        `LocalProduct.owner`.

        The password is empty if the socket authenticates the system user.
        """
        name = self.product.owner
        return (name, owner_password(self.password)) if name else (_user(), "")

    def as_owner(self) -> pymysql.Connection[Cursor]:
        """Opens a connection with all privileges through the server's socket, which only the system user that runs the
        server can open.

        The caller must close it. Raises PyMySQL's errors if the server does not answer.
        """
        user, password = self.owner
        return pymysql.connect(
            unix_socket=str(self.folder / "server.sock"), user=user, password=password, autocommit=True,
            ssl_disabled=True, connect_timeout=ANSWER_SECONDS, read_timeout=ANSWER_SECONDS,
            write_timeout=ANSWER_SECONDS,
        )  # fmt: skip

    @property
    def _given(self) -> Path:
        return self.folder / "accounts"

    def accounts_ensure(self) -> None:
        """Creates the control plane's accounts on the running server again if their definition has changed since the
        last time.

        Otherwise this only reads a file, and it does nothing if the server is not running. Raises LocalServerError.
        """
        wanted = list(statements(self.username, self.password, self.product))
        mark = hashlib.sha256("\n".join(wanted).encode()).hexdigest()
        if not self.is_made or (self._given.exists() and self._given.read_text() == mark) or self.pid is None:
            return
        self._make_private()
        try:
            with self.as_owner() as connection, connection.cursor() as cursor:
                for statement in wanted:
                    cursor.execute(statement)
        except pymysql.MySQLError as error:
            why = f"error {error.args[0]}" if error.args else "no answer"
            raise LocalServerError(f"the accounts of the server in {self.folder} cannot be made: {why}.") from error
        _write(self._given, mark)

    def _failure(self, before: int) -> str:
        said = self.log.read_bytes()[before:] if self.log.exists() else b""
        lines = said.decode(errors="replace").splitlines()
        # The first errors are the cause, later ones their consequences. The log may be gone before anybody reads it.
        telling = [self._without_data(line) for line in lines if "[ERROR]" in line][:4]
        return f"the server in {self.folder} did not start: " + (" | ".join(telling) or "see its error.log.")

    def _without_data(self, line: str) -> str:
        """Returns a line of the server's log with quoted text hidden, unless the text appears in the server's
        configuration.

        The log may quote any file that the server was configured to read.
        """
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
        """Copies the engine's library into the server's plugin folder. Raises LocalServerError if there is no library.

        The old file is replaced atomically, and a running server keeps using the old one until its next start.
        """
        if not library.is_file():
            raise LocalServerError(f"{library} does not exist: build the engine, or set FQC_ENGINE_LIBRARY.")
        draft = self.folder / "plugins" / f"{ENGINE_FILE}.new"
        draft.touch(0o600)
        shutil.copyfile(library, draft)
        draft.replace(self.folder / "plugins" / ENGINE_FILE)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _write(file: Path, text: str) -> None:
    file.touch(0o600)
    file.write_text(text)


def _user() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name


def _replace(file: Path, lines: Iterable[str]) -> None:
    """Writes the lines, without line ends here, to the file atomically: a reader sees the old content or the new."""
    draft = file.with_name(f"{file.name}.new")
    _write(draft, "\n".join(lines) + "\n")
    draft.replace(file)


def _line(name: str, value: str) -> str:
    line = f"loose-{name}={_option(value)}"
    is_one_line = not any(ord(character) < ord(" ") for character in value) and len(line.encode()) <= MOST_LINE_BYTES
    if not is_one_line or not PLAIN_NAME.fullmatch(name):
        raise LocalServerError(f"the value of {name!r} cannot be written as one line of a configuration file.")
    return line


def _option(value: str) -> str:
    is_plain = value.replace("_", "").replace("-", "").replace(".", "").isalnum()
    return value if is_plain else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
