"""The privileges that each use of a server requires, and those that an account lacks.

Whether an account may set variables is tested with a statement that always fails: its last assignment can never
succeed. A server checks all assignments before it makes any, so the error tells of a missing privilege or of the last
assignment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from controlplane.gateway.errors import PrivilegeMissing, RefusedStatement
from controlplane.gateway.local_accounts import Grants
from controlplane.gateway.product import product_of
from controlplane.gateway.server import Server, quoted

GRANT = re.compile(r"GRANT (?P<rights>.+?) ON (?P<place>\S+) TO ")
COLUMNS = re.compile(r" \([^)]*\)")
EVERYTHING = "ALL PRIVILEGES"


def grant_statements(grants: Grants, account: str) -> tuple[str, ...]:
    return tuple(f"GRANT {rights} ON {place} TO {account};" for rights, place in grants)


def granted(server: Server) -> Iterator[tuple[set[str], str]]:
    """Yields the grants of the connection's account: the privileges, and the object that they are granted on, such as
    `*.*`.

    Those of roles that are not enabled are left out.
    """
    for line, *_ in server.rows("SHOW GRANTS"):
        if found := GRANT.match(str(line)):
            yield set(COLUMNS.sub("", found["rights"]).split(", ")), found["place"]


def lacking(server: Server, needed: Grants) -> Grants:
    """Returns those of the needed grants that the connection's account does not have; empty if it has them all."""
    held = list(granted(server))
    return [(rights, place) for rights, place in needed if not _has(held, set(rights.split(", ")), place)]


def _has(held: Iterable[tuple[set[str], str]], rights: set[str], place: str) -> bool:
    covering = {"*.*", place, f"{place.partition('.')[0]}.*"}
    found = set().union(*(have for have, where in held if where in covering))
    return EVERYTHING in found or rights <= found or ("SYSTEM_VARIABLES_ADMIN" in rights and "SUPER" in found)


def missing_to_set(server: Server, names: Iterable[str]) -> dict[str, str]:
    """Returns by variable the privilege that the connection's account lacks to set it globally.

    Variables that it may set are left out. Sets nothing.
    """
    wanted = list(names)
    never = product_of(server.variable("version") or "").never_assigned
    if not wanted or _may_set(server, wanted, never):
        return {}
    found = {name: _missing(server, name, never) for name in wanted}
    return {name: privilege for name, privilege in found.items() if privilege}


def _may_set(server: Server, names: Iterable[str], never: str) -> bool:
    """Returns whether the account may set all these variables; sets none. `never` is an assignment that always fails.

    One statement tests them all: if the error is about `never`, all other assignments are permitted.
    """
    try:
        _try(server, names, never)
    except RefusedStatement as error:
        return never.split("`")[1] in error.detail and not isinstance(error, PrivilegeMissing)
    return False


def _missing(server: Server, name: str, never: str) -> str:
    try:
        _try(server, [name], never)
    except PrivilegeMissing as error:
        return error.privilege
    except RefusedStatement:
        return ""
    return ""


def _try(server: Server, names: Iterable[str], never: str) -> None:
    own = [quoted(server.engine_name(name)) for name in names]
    server.run(f"SET {''.join(f'@@GLOBAL.{name} = @@GLOBAL.{name}, ' for name in own)}@@GLOBAL.{never}")
