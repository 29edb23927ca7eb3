"""The servers of one measurement: data is loaded once, and each configuration gets a copy of the same files.

All of them run at the same time, so that the runs of a round follow each other at once; those that wait do nothing.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from driver import configuration, ideal, load
from driver.certificates import make_certificates
from driver.product import MARIADB, MYSQL
from driver.server import SCHEMA, USER, Server
from driver.workload import Profile


class Stage:
    product = MARIADB
    configurations: Sequence[str] = configuration.ALL
    lacks: Sequence[str] = ()

    def __init__(self, profile: Profile) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fqc-bench-"))
        self._profile = profile
        self._arguments: Sequence[str] | None = None
        self.certificates = self.folder / "certificates"
        self.servers: dict[str, Any] = {}
        # The arguments and variables of each server under each set of arguments, as it has reported them.
        self.settings: dict[str, dict[str, Any]] = {}

    @classmethod
    def programs(cls) -> list[str]:
        return [cls.product.program, "sysbench"]

    def __enter__(self) -> Stage:
        try:
            self._make()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()

    def serve(self, arguments: Sequence[str]) -> None:
        """Restarts all servers with these further arguments, unless they run with exactly these."""
        if arguments == self._arguments:
            return
        for name in self.configurations:
            server = self.servers[name]
            server.stop()
            configuration.start(name, server, arguments)
            self.settings[" ".join([name, *arguments])] = configuration.settings(name, server)
        self._arguments = arguments

    def _make(self) -> None:
        make_certificates(self.certificates)
        first = Server(self.folder / self.configurations[0], self.certificates, self.product)
        first.install()
        self.servers[self.configurations[0]] = first
        first.start([])
        first.rows(f"CREATE DATABASE {SCHEMA}")
        if self.product is MARIADB:
            first.rows("DELETE FROM mysql.global_priv WHERE user = 'root' AND host <> 'localhost'")
            first.rows("FLUSH PRIVILEGES")
        first.rows(f"CREATE USER {USER}@127.0.0.1")
        first.rows(f"GRANT ALL ON {SCHEMA}.* TO {USER}@127.0.0.1")
        load.prepare(first, self._profile.tables, self._profile.rows, self.certificates)
        first.stop()
        for name in self.configurations[1:]:
            self.servers[name] = first.copy(self.folder / name)
        self.servers[ideal.NAME] = ideal.Ideal()

    def _end(self) -> None:
        for server in self.servers.values():
            server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class MySqlStage(Stage):
    """The servers for MySQL, which has no query cache of its own, and where the plugin has no light mode."""

    product = MYSQL
    configurations = ("OFF", "FQC", "LOADED")
    lacks = ("NATIVE", "DOZING")
