"""One execution of a statement with its literals. Literals may be data, which not everybody may see.

The engine keeps no literals. A server knows the statements that run now. It keeps the last statements of each
connection only if performance_schema and two of its consumers are ON, which is the default on MySQL alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db import transaction

from controlplane.accounts.roles import covers
from controlplane.audit.services import audit_record
from controlplane.core.errors import Denied
from controlplane.fleet.connection import connected
from controlplane.fleet.models import Instance
from controlplane.fleet.states import Provider
from controlplane.gateway.errors import PrivilegeMissing
from controlplane.gateway.privileges import grant_statements, lacking
from controlplane.gateway.server import Server
from controlplane.gateway.shapes import digest_of
from controlplane.settings.selectors import settings_get

HISTORY = "`performance_schema`.`events_statements_history`"
# The most texts, bytes of one text and characters in total that are read and compared, whatever a server keeps.
MOST_TEXTS, LONGEST_BYTES, MOST_CHARACTERS = 1000, 16 << 10, 1 << 20
RUNNING = "SELECT INFO, DB FROM information_schema.PROCESSLIST WHERE LENGTH(INFO) <= %s LIMIT %s"
ENDED = (
    "SELECT SQL_TEXT, CURRENT_SCHEMA FROM performance_schema.events_statements_history"
    " WHERE LENGTH(SQL_TEXT) <= %s ORDER BY TIMER_START DESC LIMIT %s"
)
CONSUMERS = ("events_statements_current", "events_statements_history")
OPTIONS = ("performance_schema = ON", *(f"performance_schema_consumer_{name} = ON" for name in CONSUMERS))


Text = tuple[str, str | None]  # the text and the database that it ran in


class NotFound(NamedTuple):
    """Why no execution of a statement was found: a stable code, a text for users, and `remedy`, lines for the server's
    option file or statements to run there.
    """

    reason: str
    note: str
    remedy: tuple[str, ...] = ()


PRIVILEGE_MISSING = NotFound(
    "privilege_missing",
    "The account may not read the statements of other sessions. Run this on the server, then try again:",
)
LOCAL_HISTORY_OFF = NotFound(
    "local_history_off",
    "This server keeps no history of statements. Try again while the statement is running.",
)
HISTORY_OFF = NotFound(
    "history_off",
    "The server keeps no history of statements. Try again while the statement is running, or add these lines to the "
    "server's option file and restart it:",
    OPTIONS,
)
NOT_REMEMBERED = NotFound(
    "not_remembered",
    "No open connection has run this statement recently. Try again when the application has used it. Statements "
    "longer than performance_schema_max_sql_text_length are not recognised.",
)


def example_allow(role: str | None) -> None:
    """Raises Denied unless the role may see statements with their literals.

    The same role is required as for trials, which reveal data as well; None is no role.
    """
    wanted = settings_get().trial_role
    if role is None or not covers(role, wanted):
        raise Denied(f"Statements with their literals are shown to the role {wanted}; others see the digest.")


def example_find(instance: Instance, digest: str) -> dict[str, Any]:
    _note(instance, digest)
    with connected(instance) as server:
        running, ended = _texts(server, RUNNING), _texts(server, ENDED)
        found = first([*(running or []), *(ended or [])], digest)
        missing = None if found else _not_found(server, instance, ended)
    statement, database = found or (None, None)
    reason, note, remedy = missing or ("", "", ())
    return {"statement": statement, "database": database, "reason": reason, "note": note, "remedy": remedy}


@transaction.atomic
def _note(instance: Instance, digest: str) -> None:
    audit_record("instance.statement_shown", instance, after={"digest": digest})


def _texts(server: Server, source: str) -> list[Text] | None:
    """Runs one of the queries above for running or ended statements.

    Returns the texts with the databases that they ran in; None if the account may not read them.
    """
    try:
        return server.rows(source, [LONGEST_BYTES, MOST_TEXTS])
    except PrivilegeMissing:
        return None


def first(texts: Iterable[Text], digest: str) -> Text | None:
    left = MOST_CHARACTERS
    for text, database in dict.fromkeys(texts):
        left -= len(text)
        if left < 0:
            return None
        if digest_of(text) == digest:
            return text, database
    return None


def _not_found(server: Server, instance: Instance, ended: list[Text] | None) -> NotFound:
    # The history contains this session's own last statement, so an empty result means that there is no history.
    has_history = server.variable("performance_schema") == "1" and ended != []
    wanted = lacking(server, [("PROCESS", "*.*")])
    if has_history and ended is None:
        wanted = [*wanted, ("SELECT", HISTORY)]
    if wanted:
        return PRIVILEGE_MISSING._replace(remedy=grant_statements(wanted, server.account))
    if has_history:
        return NOT_REMEMBERED
    return LOCAL_HISTORY_OFF if instance.provider == Provider.LOCAL else HISTORY_OFF
