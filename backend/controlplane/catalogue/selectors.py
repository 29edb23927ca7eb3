"""Engine lines and their definitions, wherever they come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache

from controlplane.catalogue.definition import Definition
from controlplane.catalogue.line import Line, line_from, shipped_lines
from controlplane.catalogue.models import EngineLine
from controlplane.catalogue.server_variables import own_default_left_out
from controlplane.core.errors import NotFound


def line_get(id: str) -> Line:
    """Returns the engine line of this id, such as 5.7 or mariadb-10.11.

    Raises NotFound. Lines are cached per process; one that was read again from a server has another `read_at` and is
    parsed again.
    """
    shipped = shipped_lines().get(id)
    if shipped is not None:
        return shipped
    read_at = EngineLine.objects.filter(id=id).values_list("read_at", flat=True).first()
    if read_at is None:
        known = ", ".join(line.id for line in line_list())
        raise NotFound(f"There is no engine line {id!r}. Known: {known}.", code="engine_line_not_found")
    return _read_line(id, read_at)


def line_list() -> list[Line]:
    read = [_read_line(*row) for row in EngineLine.objects.values_list("id", "read_at")]
    return [*shipped_lines().values(), *read]


def known_server_lines(ids: Iterable[str]) -> set[str]:
    """Returns those of these engine lines whose parameters were read from a server of the fleet.

    Lines that the catalogue is shipped with are not among them.
    """
    return set(EngineLine.objects.filter(id__in=set(ids)).values_list("id", flat=True))


def described_engines(ids: Iterable[str]) -> dict[str, int]:
    """Returns, by line, the minor version of the newest engine among the servers that described it; 0 without an
    engine.

    Lines that no server has described are missing. A newer engine may have further variables.
    """
    described = EngineLine.objects.filter(id__in=set(ids)).values_list("id", "minor_version")
    return {id: minor_version or 0 for id, minor_version in described}


def is_news(line: str, minor_version: int | None, described: Mapping[str, int]) -> bool:
    """Returns whether a server of this line can describe variables that the stored line may lack: the line is not in
    `described`, or only with an older engine.

    `minor_version` is the server's engine, None without one.
    """
    return line not in described or (minor_version or 0) > described[line]


@lru_cache(maxsize=32)
def _read_line(id: str, read_at: datetime) -> Line:
    row = EngineLine.objects.get(id=id)
    entries = [own_default_left_out(entry) for entry in row.definitions]
    raw = {"id": row.id, "product": row.product, "version": row.version, "parameters": entries}
    facts = {"server_version": row.server_version, "read_at": row.read_at, "read_from": row.read_from}
    return line_from(raw, "server", **facts)


def parameter_search(
    line: Line, *, search: str = "", is_modifiable: bool | None = None, needs_restart: bool | None = None
) -> list[Definition]:
    """Returns the definitions in which every word of `search` occurs in the name or the description.

    None for the other two means either.
    """
    words = search.lower().split()
    return [
        definition
        for definition in line.definitions.values()
        if _has_words(definition, words)
        and is_modifiable in (None, definition.is_modifiable)
        and needs_restart in (None, definition.needs_restart)
    ]


def _has_words(definition: Definition, words: Iterable[str]) -> bool:
    text = f"{definition.name} {definition.description.lower()}"
    return all(word in text for word in words)
