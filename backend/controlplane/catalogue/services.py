"""Storing a line that was read from a server."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.audit.services import audit_record
from controlplane.catalogue.models import EngineLine
from controlplane.catalogue.server_variables import entries_from, line_id


@transaction.atomic
def engine_line_store(*, server_version: str, rows: Iterable[tuple[Any, ...]]) -> EngineLine:
    """`server_version` is `@@version`, `rows` of `gateway.variables`."""
    id, product, version = line_id(server_version)
    line, is_new = EngineLine.objects.update_or_create(
        id=id,
        defaults={
            "product": product,
            "version": version,
            "server_version": server_version,
            "definitions": entries_from(rows),
            "read_at": timezone.now(),
        },
    )
    after = {"server_version": server_version, "parameters": len(line.definitions)}
    audit_record("engine_line.created" if is_new else "engine_line.updated", line, after=after)
    return line
