"""Near caches (`fqc-near`) before a server with the plugin: one that clients reach over loopback, and one by a unix
socket.

They stand before a server of their own, so that nothing which is done to the others' caches ends their feeds. Measured
like configurations. NearStage takes the place of stage.py's for the profile `near`, and AwayStage for `away`, where all
servers are half a millisecond away, each way, from clients and near caches. RulesStage is for `rules`: near caches that
go by rules before the server without the plugin, one alone and two that share memcached; RulesAwayStage is the same
with the server away. InProcessStage is for `in-process`: near caches as in NearStage, and a third one whose hits the
client's own process reads from its memory.
"""

from __future__ import annotations

import os
import subprocess
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymysql

from driver import configuration
from driver.listening import PROGRAMS, Listening
from driver.product import MARIADB
from driver.server import SCHEMA, USER, Server, free_port
from driver.stage import Stage

PROGRAM = PROGRAMS / "fqc-near"
DISTANCE = PROGRAMS / "distance"
FETCHED = PROGRAMS.parent / "target" / "servers" / "memcached" / "bin" / "memcached"
MEMCACHED = os.environ.get("FQC_MEMCACHED", str(FETCHED) if FETCHED.exists() else "memcached")
EACH_WAY_US = 500
LOOPBACK, SOCKET = NAMES = ("NEAR", "NEAR_SOCKET")
# The load generator's process reads the memory of this near cache itself, and reaches it by its unix socket.
IN_PROCESS = "IN_PROCESS"
LIBRARY = PROGRAMS / "libfqc.so"
# Two names of the same server in a measurement of writes: its near caches hold results of the written row, or do not.
HELD, NOT_HELD = WRITTEN = ("HELD", "NOT_HELD")
MEMORY, SHARED = BY_RULES = ("MEMORY", "MEMCACHED")
# The near cache that fills memcached, so that the one that is measured finds results there.
OTHER = "OTHER"
FEED = "feed"
SIZE_MB = 512
RULE = f"[[rule]]\nschema = '{SCHEMA}'\ncache = 'always'\nttl = 3600\n"
START_SECONDS = 60


class NearFailed(RuntimeError):
    """A near cache does not serve; the message contains its log."""


def distance(port: int, each_way_us: int, *more: str) -> Listening:
    """Starts a program that forwards its own port to the server on this port, with a delay. `more`: further options
    of the program."""
    return Listening(DISTANCE, "--server", f"127.0.0.1:{port}", "--each-way-us", str(each_way_us), *more)


class Near:
    def __init__(
        self, name: str, folder: Path, server: Server, right: Sequence[str | Path], under: Sequence[str] = ()
    ) -> None:
        """Starts a near cache before the server, and returns when it serves, or, without `right`, when it relays.

        `right`: the options for the way in which it keeps results current, such as those of `by_feed`. `under`: the
        command of a program that runs it, such as valgrind.
        """
        self.folder, self.product = folder, server.product
        # What clients find in their environment, besides everything else.
        self.environment: dict[str, str] = {}
        self._ready = b"\nfqc_near_serving 1\n" if right else b"\nfqc_near_serving "
        self._socket, self._log = folder / f"{name}.sock", folder / f"{name}.log"
        self.port, self._metrics = free_port(), f"127.0.0.1:{free_port()}"
        loopback = ("--mysql-host=127.0.0.1", f"--mysql-port={self.port}")
        self.place = (f"--mysql-socket={self._socket}",) if name in (SOCKET, IN_PROCESS) else loopback
        command = [*under, PROGRAM, "--server", f"127.0.0.1:{server.reached_at}", "--size", f"{SIZE_MB}M"]
        command += ["--listen", f"127.0.0.1:{self.port},{self._socket}", "--metrics", self._metrics, *right]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        self._wait()

    @property
    def pid(self) -> int:
        return self._process.pid

    def status(self, pattern: str) -> dict[str, int]:
        """Returns status variables that are numbers: for `Qcache%` those of the near cache, for any other pattern
        those of the server."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"SHOW GLOBAL STATUS LIKE '{pattern}'")
            return {name: int(value) for name, value in cursor.fetchall()}

    def hits(self, tier: str) -> int:
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SHOW FQC STATUS")
            return next(int(value) for name, value in cursor.fetchall() if name in (f"{tier} hits", "Hits"))

    def hits_in_applications(self) -> int:
        """Returns how many reads were answered in the processes of applications, as far as those have reported it."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SHOW FQC STATUS LIKE 'Hits in applications'")
            return sum(int(value) for _, value in cursor.fetchall())

    def connect(self) -> pymysql.Connection[Any]:
        """Connects through the near cache, without TLS, since it could not read an encrypted connection. The caller
        closes it."""
        return pymysql.connect(unix_socket=str(self._socket), user=USER, autocommit=True, ssl_disabled=True)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._serves():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise NearFailed(f"{PROGRAM} does not serve:\n{self._log.read_text(errors='replace')}")
            time.sleep(0.05)

    def _serves(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{self._metrics}/metrics") as answer:
                return self._ready in answer.read()
        except OSError:
            return False


def sharing(folder: Path, server: Server) -> Near:
    """Starts a near cache that keeps results current by leases, whose clients read its memory in their own process."""
    share = folder / "share.sock"
    near = Near(IN_PROCESS, folder, server, [*by_feed(folder), "--share", share])
    near.environment = {"LD_PRELOAD": str(LIBRARY), "FQC_SHARE": str(share)}
    return near


def make_feed(server: Server) -> None:
    """Creates the account with which near caches attach to the server's plugin. May be repeated."""
    server.rows(f"CREATE USER IF NOT EXISTS {FEED}@127.0.0.1 IDENTIFIED BY '{FEED}'")
    privilege = "REPLICATION MASTER ADMIN" if server.product is MARIADB else "REPLICATION SLAVE"
    server.rows(f"GRANT {privilege} ON *.* TO {FEED}@127.0.0.1")
    admit_without_tls(server, FEED, FEED)


def admit_without_tls(server: Server, user: str, password: str) -> None:
    """Has the server accept this account's password from connections without TLS until it restarts.

    MySQL does so only after the account has logged in with TLS.
    """
    pymysql.connect(
        host="127.0.0.1", port=server.port, user=user, password=password, ssl={"check_hostname": False}
    ).close()


def by_feed(folder: Path) -> list[str | Path]:
    password = folder / "password"
    password.write_text(FEED)
    return ["--feed-user", FEED, "--feed-password-file", password]


class NearStage(Stage):
    configurations: Sequence[str] = ("OFF", "FQC", configuration.BEHIND)

    def __init__(self, profile: Any) -> None:
        super().__init__(profile)
        self._nears: list[Near] = []

    def serve(self, arguments: Sequence[str]) -> None:
        """Starts the servers and near caches once. Further calls do nothing, because nothing here is measured with
        other arguments."""
        if self._nears:
            return
        super().serve(arguments)
        self.servers |= dict.fromkeys(WRITTEN, self.servers["FQC"])
        behind = self.servers[configuration.BEHIND]
        configuration.empty_cache(configuration.BEHIND, behind, SIZE_MB)
        make_feed(behind)
        for name in NAMES:
            self._nears.append(Near(name, self.folder, behind, by_feed(self.folder)))
            self.servers[name] = self._nears[-1]


class InProcessStage(NearStage):
    def serve(self, arguments: Sequence[str]) -> None:
        super().serve(arguments)
        if IN_PROCESS not in self.servers:
            behind = self.servers[configuration.BEHIND]
            # Near caches store what their server would store, which must not depend on how often it was asked for.
            behind.rows("SET GLOBAL fqc_adaptation = OFF")
            self.servers[IN_PROCESS] = sharing(self.folder, behind)


class RulesStage(Stage):
    configurations: Sequence[str] = ("OFF",)

    def __init__(self, profile: Any) -> None:
        super().__init__(profile)
        self._store: subprocess.Popen[bytes] | None = None

    @classmethod
    def programs(cls) -> list[str]:
        return [*super().programs(), MEMCACHED]

    def serve(self, arguments: Sequence[str]) -> None:
        """Starts server, memcached and near caches once. Further calls do nothing, because nothing here is measured
        with other arguments."""
        if self._store:
            return
        super().serve(arguments)
        # SHOW FQC STATUS counts hits by tier only for an account with the privilege PROCESS.
        self.servers["OFF"].rows(f"GRANT PROCESS ON *.* TO {USER}@127.0.0.1")
        rules, store = self.folder / "rules.toml", self.folder / "memcached.sock"
        rules.write_text(RULE)
        # As root, memcached requires a user name. Any other user's `-u` is ignored.
        self._store = subprocess.Popen([MEMCACHED, "-u", "root", "-m", str(SIZE_MB), "-s", store])
        for name in (MEMORY, SHARED, OTHER):
            # The timeout is longer than any delay that other programs cause.
            right = [] if name == MEMORY else ["--memcached", store, "--store-timeout-ms", "1000"]
            self.servers[name] = Near(name, self.folder, self.servers["OFF"], ["--rules", rules, *right])

    @property
    def store_pid(self) -> int:
        assert self._store
        return self._store.pid

    def _end(self) -> None:
        super()._end()
        if self._store:
            self._store.terminate()
            self._store.wait()


class _Away(Stage):
    def __init__(self, profile: Any) -> None:
        super().__init__(profile)
        self._distances: list[Listening] = []

    def _make(self) -> None:
        super()._make()
        for server in (self.servers[name] for name in self.configurations):
            self._distances.append(distance(server.port, EACH_WAY_US))
            server.reached_at = self._distances[-1].port

    def _end(self) -> None:
        for distance in self._distances:
            distance.stop()
        super()._end()


class AwayStage(_Away, NearStage):
    pass


class RulesAwayStage(_Away, RulesStage):
    pass
