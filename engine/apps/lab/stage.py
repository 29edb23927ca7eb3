"""The servers and near caches of one application, which is installed once; each mode gets a copy of the same files.

off     the server as it is; its pages are what those of the others are compared with
plugin  the server with the plugin
exact   a near cache before a server with the plugin
binlog  a near cache that follows the binary log of a server without the plugin
rules   a near cache that serves what is at most five seconds old, before a server without the plugin
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from driver import configuration
from driver.certificates import make_certificates
from driver.near import Near, by_feed, make_feed
from driver.server import USER, Server
from lab.application import Application, Extent, Site, Visitors
from lab.browser import Browser

MODES = ("off", "plugin", "exact", "binlog", "rules")
WITH_PLUGIN = ("plugin", "exact")
# Modes whose pages must be the same as without a cache, also right after a write.
ALWAYS_SAME = ("plugin", "exact", "binlog")
READER = "reader"
CACHE_MB = 64
TTL_SECONDS = 5
# All servers write the binary log, so that its cost is the same in every mode.
SETTINGS = (
    *("--log-bin=log", "--binlog-format=ROW", "--log-slave-updates", "--server-id=1", "--sync-binlog=0"),
    *("--innodb-log-file-size=64M", "--innodb-buffer-pool-size=256M", "--performance-schema=OFF"),
)


@dataclass(frozen=True)
class Setting:
    """One mode of one application: server, near cache, application and visitors."""

    mode: str
    server: Server
    near: Near | None
    site: Site
    visitors: Visitors


def _near(mode: str, folder: Path, server: Server, schema: str) -> Near | None:
    if mode == "exact":
        make_feed(server)
        return Near("near", folder, server, by_feed(folder))
    if mode == "binlog":
        server.rows(f"CREATE USER IF NOT EXISTS {READER}@127.0.0.1 IDENTIFIED BY '{READER}'")
        server.rows(f"GRANT REPLICATION SLAVE, BINLOG MONITOR, PROCESS ON *.* TO {READER}@127.0.0.1")
        server.rows(f"GRANT SELECT, SHOW VIEW ON {schema}.* TO {READER}@127.0.0.1")
        password = folder / "reader-password"
        password.write_text(READER)
        follows = ["--binlog-user", READER, "--binlog-password-file", password]
        return Near("near", folder, server, [*follows, "--in-transactions", "yes"])
    if mode == "rules":
        rules = folder / "rules.toml"
        lasts = f"ttl = {TTL_SECONDS}\nin_transactions = true\n"
        rules.write_text(f"[[rule]]\nschema = '{schema}'\ncache = 'always'\n{lasts}")
        return Near("near", folder, server, ["--rules", rules])
    return None


@contextmanager
def staged(application: Application, modes: Sequence[str], extent: Extent) -> Iterator[dict[str, Setting]]:
    """Runs one application in all modes, side by side, in one temporary folder. All processes end with the context."""
    with TemporaryDirectory(prefix="fqc-apps-", ignore_cleanup_errors=True) as name, ExitStack() as ends:
        folder = Path(name)
        first = _installed(application, folder, extent, ends)
        settings = {}
        for mode in modes:
            server = first.copy(folder / mode)
            settings[mode] = _started(mode, folder / f"{mode}-near", server, application, ends)
        yield settings


def _installed(application: Application, folder: Path, extent: Extent, ends: ExitStack) -> Server:
    """Installs the application on a server, and stops the server. Its files are copied for each mode."""
    certificates = folder / "certificates"
    make_certificates(certificates)
    application.prepare(folder / "application")
    server = Server(folder / "installed", certificates)
    server.install()
    ends.callback(server.stop)
    server.start(SETTINGS)
    server.rows("DELETE FROM mysql.global_priv WHERE user = 'root' AND host <> 'localhost'")
    server.rows("FLUSH PRIVILEGES")
    server.rows(f"CREATE DATABASE {application.schema} CHARACTER SET utf8mb4")
    server.rows(f"CREATE USER {USER}@127.0.0.1")
    server.rows(f"GRANT ALL ON {application.schema}.* TO {USER}@127.0.0.1")
    # Near caches show their counters only to accounts with PROCESS.
    server.rows(f"GRANT PROCESS ON *.* TO {USER}@127.0.0.1")
    application.install(server.port, extent)
    server.stop()
    return server


def _started(mode: str, folder: Path, server: Server, application: Application, ends: ExitStack) -> Setting:
    kind = "FQC" if mode in WITH_PLUGIN else "OFF"
    ends.callback(server.stop)
    configuration.start(kind, server, SETTINGS)
    configuration.empty_cache(kind, server, CACHE_MB)
    folder.mkdir()
    near = _near(mode, folder, server, application.schema)
    if near:
        ends.callback(near.stop)
    site = application.serve(near.port if near else server.port, mode)
    ends.callback(site.stop)
    return Setting(mode, server, near, site, Visitors(Browser(site.port), Browser(site.port)))
