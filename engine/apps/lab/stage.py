"""The servers and near caches of one application, which is installed once; each mode gets a copy of the same files.

off         the server as it is; its pages are what those of the others are compared with
plugin      the server with the plugin
exact       a near cache before a server with the plugin
in-process  the same, and the application's processes read the near cache's memory
binlog      a near cache that follows the binary log of a server without the plugin
rules       a near cache that serves what is at most five seconds old, before a server without the plugin
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from driver import configuration
from driver.certificates import make_certificates
from driver.near import Near
from driver.product import Product
from driver.server import Server
from lab import servers
from lab.application import Application, Extent, Site, Visitors
from lab.browser import Browser
from lab.distance import Distance

IN_PROCESS = "in-process"
MODES = ("off", "plugin", "exact", IN_PROCESS, "binlog", "rules")
WITH_PLUGIN = ("plugin", "exact", IN_PROCESS)
# The modes whose pages must be the same as without a cache, also right after a write.
ALWAYS_SAME = ("plugin", "exact", IN_PROCESS, "binlog")
CACHE_MB = 64


@dataclass(frozen=True)
class Setting:
    """The processes of one application in one mode of the cache. `distance`: the proxy that delays what the application
    and the server send each other; None without such a delay."""

    mode: str
    server: Server
    near: Near | None
    site: Site
    visitors: Visitors
    distance: Distance | None = None


@contextmanager
def staged(
    application: Application, product: Product, modes: Sequence[str], extent: Extent, each_way_us: int = 0
) -> Iterator[dict[str, Setting]]:
    """Yields one application in all modes, running side by side in one temporary folder. All processes end with the
    context.

    `each_way_us`: microseconds between the server and all others; 0 for no distance. The mode `in-process` is then left
    out: what measures the waiting stands between the application and the near cache, so processes do not find the near
    cache. Raises Unavailable if it cannot run.
    """
    with TemporaryDirectory(prefix="fqc-apps-", ignore_cleanup_errors=True) as name, ExitStack() as ends:
        folder = Path(name)
        first = _installed(application, product, folder, extent, ends)
        settings = {}
        for mode in modes:
            if each_way_us and mode == IN_PROCESS:
                continue
            server = first.copy(folder / mode)
            settings[mode] = _started(mode, folder / f"{mode}-near", server, application, each_way_us, ends)
        yield settings


def _installed(application: Application, product: Product, folder: Path, extent: Extent, ends: ExitStack) -> Server:
    """Installs the application on a server, and stops the server. Its files are then copied for each mode."""
    certificates = folder / "certificates"
    make_certificates(certificates)
    application.prepare(folder / "application", product)
    server = Server(folder / "installed", certificates, product)
    server.install()
    ends.callback(server.stop)
    server.start(servers.settings(product))
    servers.make_accounts(server, application.schema)
    application.install(server.port, extent)
    server.stop()
    return server


def _started(
    mode: str, folder: Path, server: Server, application: Application, each_way_us: int, ends: ExitStack
) -> Setting:
    kind = "FQC" if mode in WITH_PLUGIN else "OFF"
    ends.callback(server.stop)
    configuration.start(kind, server, servers.settings(server.product))
    configuration.empty_cache(kind, server, CACHE_MB)
    folder.mkdir()
    distance = Distance(server, folder, each_way_us) if each_way_us else None
    if distance:
        ends.callback(distance.stop)
    near = servers.near(mode, folder, server, application.schema)
    if near:
        ends.callback(near.stop)
    port = near.port if near else server.reached_at
    environment = near.environment if near else {}
    site = application.serve(distance.watch(port) if distance else port, mode, environment)
    ends.callback(site.stop)
    return Setting(mode, server, near, site, Visitors(Browser(site.port), Browser(site.port)), distance)
