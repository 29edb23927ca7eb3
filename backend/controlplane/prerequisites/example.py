"""One execution of a statement as it was written, with its literals: these may be data, which not everybody may see.

The engine keeps no literals. A server remembers the last statements of each connection if performance_schema is ON.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.db import transaction

from controlplane.accounts.roles import covers
from controlplane.audit.services import audit_record
from controlplane.core.errors import Denied
from controlplane.fleet.connection import connected
from controlplane.fleet.models import Instance
from controlplane.gateway.errors import RefusedStatement
from controlplane.gateway.privileges import grant_statements
from controlplane.gateway.server import Server
from controlplane.gateway.shapes import digest_of
from controlplane.settings.selectors import settings_get

HISTORY = "`performance_schema`.`events_statements_history`"
SOURCES = (
    "SELECT INFO, DB FROM information_schema.PROCESSLIST WHERE INFO IS NOT NULL",
    "SELECT SQL_TEXT, CURRENT_SCHEMA FROM performance_schema.events_statements_history WHERE SQL_TEXT IS NOT NULL",
)
NOT_FOUND = (
    "The server does not remember an execution of this statement. It remembers the last ones of each open connection, "
    "if performance_schema is ON and the account may read them: "
)


def example_allow(role: str | None) -> None:
    """The same role as for trials, from which data can be learned as well."""
    wanted = settings_get().trial_role
    if role is None or not covers(role, wanted):
        raise Denied(f"Statements with their literals are shown to the role {wanted}; others see the digest.")


def example_find(instance: Instance, digest: str) -> dict[str, Any]:
    _note(instance, digest)
    with connected(instance) as server:
        found = next((each for each in _remembered(server) if digest_of(each[0]) == digest), None)
        [grant] = grant_statements([("SELECT", HISTORY)], server.account) if found is None else [""]
    statement, database = found or (None, None)
    return {"statement": statement, "database": database, "note": NOT_FOUND + grant if found is None else ""}


@transaction.atomic
def _note(instance: Instance, digest: str) -> None:
    audit_record("instance.statement_shown", instance, after={"digest": digest})


def _remembered(server: Server) -> list[tuple[str, str | None]]:
    rows: list[tuple[str, str | None]] = []
    for source in SOURCES:
        with suppress(RefusedStatement):
            rows += server.rows(source)
    return rows
