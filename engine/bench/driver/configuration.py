"""The configurations that are compared: how the server of each starts, and how its cache gets its memory.

OFF     the server as it is, its own cache off
NATIVE  the server's own query cache
FQC     the plugin, switched on through SQL as a user would
DOZING  the same with `fqc_doze = ON`: it steps aside where it saves less than it costs
LOADED  the plugin in memory, but query_cache_type = 0
BEHIND  as FQC, behind near caches: only what they do is measured
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from driver.product import MARIADB
from driver.server import SETTINGS, Server

ALL = ("OFF", "NATIVE", "FQC", "DOZING", "LOADED")
BEHIND = "BEHIND"
PLUGIN = Path(__file__).resolve().parents[2] / "dist" / "fqc.so"
MEGABYTE = 1 << 20
# Arguments for the server's own cache, which can only be switched on at start; its size may change later.
ARGUMENTS = {
    "OFF": ("--query-cache-type=0", "--query-cache-size=0"),
    "NATIVE": ("--query-cache-type=1", "--query-cache-size=1M", "--query-cache-limit=1M"),
    "FQC": ("--query-cache-type=0", "--query-cache-size=0"),
    "DOZING": ("--query-cache-type=0", "--query-cache-size=0"),
    "LOADED": ("--query-cache-type=0", "--query-cache-size=0"),
    BEHIND: ("--query-cache-type=0", "--query-cache-size=0"),
}
SWITCHED_ON = ("FQC", "DOZING", BEHIND)
HAS_PLUGIN = (*SWITCHED_ON, "LOADED")
HAS_CACHE = ("NATIVE", *SWITCHED_ON)


class NotAsAsked(RuntimeError):
    """A server reports other settings than it was given."""


def start(
    configuration: str,
    server: Server,
    arguments: Sequence[str],
    under: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> None:
    places: list[str] = []
    if configuration in HAS_PLUGIN:
        folder = server.folder / "plugins"
        folder.mkdir(exist_ok=True)
        shutil.copy(PLUGIN, folder / "fqc.so")
        places = [f"--plugin-dir={folder}"]
    server.start([*own_cache(configuration, server), *places, *arguments], under, environment)
    if configuration in HAS_PLUGIN and not server.rows("SELECT 1 FROM mysql.plugin WHERE dl LIKE 'fqc%'"):
        for statement in server.product.installing:
            server.rows(statement)


def own_cache(configuration: str, server: Server) -> Sequence[str]:
    """Returns the server's arguments for its own query cache. Empty if the product has none."""
    return ARGUMENTS[configuration] if server.product is MARIADB else ()


def empty_cache(configuration: str, server: Server, size_mb: float) -> None:
    """Empties the cache of this configuration, gives it exactly this much memory, and switches it on. Does nothing
    without a cache."""
    if configuration not in HAS_CACHE:
        return
    size = int(size_mb * MEGABYTE) // 1024 * 1024
    server.rows("SET GLOBAL query_cache_size = 0")
    server.rows(f"SET GLOBAL query_cache_size = {size}")
    if configuration in SWITCHED_ON:
        server.rows("SET GLOBAL query_cache_type = 1")
    if configuration == "DOZING":
        server.rows("SET GLOBAL fqc_doze = ON")
    found = server.rows("SELECT @@GLOBAL.query_cache_type, @@GLOBAL.query_cache_size")[0]
    if found != ("ON", size):
        raise NotAsAsked(f"{configuration} was given query_cache_type=ON, query_cache_size={size}, but reports {found}")


@contextmanager
def storing_all(configuration: str, server: Server) -> Iterator[None]:
    """Lets the plugin store every result inside of this context, although each statement is sent only once."""
    if configuration not in SWITCHED_ON:
        yield
        return
    server.rows("SET GLOBAL fqc_adaptation = OFF")
    yield
    server.rows("SET GLOBAL fqc_adaptation = ON")


def settings(configuration: str, server: Server) -> dict[str, Any]:
    """Returns the server's arguments, and those variables that matter to a result, without paths of this machine."""
    wanted = ("query_cache%", "fqc%", "innodb%", "thread%", "version%", "max_connections", "table_open_cache")
    found: dict[str, Any] = {}
    for pattern in wanted:
        found |= {name: value for name, value in server.rows(f"SHOW GLOBAL VARIABLES LIKE '{pattern}'")}
    variables = {name: value for name, value in sorted(found.items()) if not str(value).startswith("/")}
    arguments = [*SETTINGS, *server.product.settings, *own_cache(configuration, server)]
    return {"arguments": arguments, "variables": variables}
