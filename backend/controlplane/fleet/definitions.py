"""Combines the definitions that apply to an instance into one line: the definitions of all parameters, by name.

The line read from such a server knows all its variables and which need a restart; the instance's own line (5.7) knows
the managed service's bounds. The cache's parameters depend on the engine: with it, none of them needs a restart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from controlplane.catalogue.definition import Definition
from controlplane.catalogue.line import CACHE_PREFIX, Line
from controlplane.catalogue.selectors import known_server_lines, line_get
from controlplane.core.errors import NotFound
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import DEFAULT_LINE, server_line_id


def instance_line(instance: Instance) -> Line:
    return instance_lines([instance])[instance.pk]


def instance_lines(instances: Iterable[Instance]) -> dict[str, Line]:
    """Returns by instance id the line that applies to each instance: the definitions of all its parameters.

    The lines of the servers are looked up with one query.
    """
    wanted = list(instances)
    servers = _server_lines({server_line_id(each.engine_version) for each in wanted})
    return {
        each.pk: _merged(
            _ById(_own_line(each.engine_line)),
            servers.get(server_line_id(each.engine_version)),
            each.minor_version is not None,
            _server_name(each),
        )
        for each in wanted
    }


def _server_name(instance: Instance) -> str:
    """Returns a name such as MariaDB 10.11; empty until the server was reached."""
    release = server_line_id(instance.engine_version).rpartition("-")[2]
    return f"{instance.product} {release}" if instance.product and release else ""


def _own_line(id: str) -> Line:
    """Returns the line with this id.

    If it was deleted, the default line is returned, so that its instances can still be watched.
    """
    try:
        return line_get(id)
    except NotFound:
        return line_get(DEFAULT_LINE)


def _server_lines(ids: set[str]) -> dict[str, _ById]:
    return {id: _ById(line_get(id)) for id in known_server_lines(ids)}


def unknown_line(instance: Instance) -> str:
    """Returns the id of the server's line (product and release, such as mariadb-10.11) if no trusted server has
    described its variables yet; empty if they are known, or the server's version names no release.
    """
    id = server_line_id(instance.engine_version)
    return "" if not id or known_server_lines([id]) else id


class _ById:
    """A line as a key of the cache of `_merged`.

    Lines are replaced as a whole, so the object's identity stands for its content.
    """

    def __init__(self, line: Line) -> None:
        self.line = line

    def __hash__(self) -> int:
        return id(self.line)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.line is self.line


@lru_cache(maxsize=64)
def _merged(own: _ById, server: _ById | None, has_engine: bool, server_name: str) -> Line:
    names = set(server.line.definitions) if server else set(own.line.definitions)
    names |= {name for name in own.line.definitions if name.startswith(CACHE_PREFIX)}
    merged = {name: _choose(name, own.line, server.line if server else None, has_engine) for name in sorted(names)}
    return replace(own.line, definitions=merged, server_name=server_name)


def _choose(name: str, own: Line, server: Line | None, has_engine: bool) -> Definition:
    mine = own.definitions.get(name)
    if mine and name.startswith(CACHE_PREFIX):
        return replace(mine, needs_restart=mine.needs_restart and not has_engine)
    if server is None:
        return own.definitions[name]
    found = server.definitions[name]
    if mine and "{" in mine.allowed.notation:
        return replace(found, allowed=mine.allowed, rounds_to=found.rounds_to or mine.rounds_to)
    return found
