"""Stores lines that were read from a server, and deletes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.audit.services import audit_record
from controlplane.catalogue.line import line_from
from controlplane.catalogue.models import EngineLine
from controlplane.catalogue.selectors import line_get
from controlplane.catalogue.server_variables import entries_from, line_id, own_default_left_out
from controlplane.core.errors import Conflict
from controlplane.gateway.errors import NotAServer


@transaction.atomic
def engine_line_store(
    *, server_version: str, rows: Iterable[tuple[Any, ...]], minor_version: int | None = None, read_from: str = ""
) -> EngineLine:
    """Stores the definitions of all variables of a line, as a server described them. Variables that an earlier server
    of the line had and this one lacks are kept.

    `server_version` is `@@version`, `rows` come from `gateway.variables`, `minor_version` is the engine's and None
    without the engine, `read_from` is an instance's name.
    """
    id, product, version = line_id(server_version)
    entries = _entries(rows, {"id": id, "product": product, "version": version})
    earlier = EngineLine.objects.select_for_update().filter(id=id).first()
    if earlier is not None:
        names = {entry["name"] for entry in entries}
        entries += [entry for entry in earlier.definitions if entry["name"] not in names]
    line, is_new = EngineLine.objects.update_or_create(
        id=id,
        defaults={
            "product": product,
            "version": version,
            "server_version": server_version,
            "definitions": entries,
            "minor_version": max(filter(None, [minor_version, earlier and earlier.minor_version]), default=None),
            "read_at": timezone.now(),
            "read_from": read_from,
        },
    )
    audit_record("engine_line.created" if is_new else "engine_line.updated", line, after=_facts(line))
    return line


def _entries(rows: Iterable[tuple[Any, ...]], line: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the definitions as entries to store.

    Raises NotAServer if the rows do not make a valid line, since a stored line is used for every server of it.
    """
    try:
        entries = entries_from(rows)
        line_from({**line, "parameters": [own_default_left_out(entry) for entry in entries]}, "server")
    except Exception as error:
        raise NotAServer(f"The server describes its variables in a way that makes no sense: {error!r}"[:500]) from error
    return entries


@transaction.atomic
def engine_line_forget(id: str) -> None:
    """Deletes a line that was read from a server.

    The next watch round reads it again from a trusted server, if there is one. Raises NotFound, or Conflict for a
    shipped line.
    """
    line = EngineLine.objects.select_for_update().filter(id=id).first()
    if line is None:
        line_get(id)  # raises an error that lists the known lines
        raise Conflict(f"Engine line {id} is part of the product: it was read from no server.", code="shipped_line")
    audit_record("engine_line.deleted", line, before=_facts(line))
    line.delete()


def _facts(line: EngineLine) -> dict[str, Any]:
    return {
        "server_version": line.server_version,
        "read_from": line.read_from,
        "parameters": len(line.definitions),
    }
