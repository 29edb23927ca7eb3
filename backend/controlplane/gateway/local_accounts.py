"""The accounts of a local server, one for each use with the least privileges that it needs, and the privileges that
accounts of other servers need. Pure.

`watch` reads, `change` sets variables and installs, `trial` runs statements of operators. None has FILE. The passwords
of the latter two are derived from the first one's: the separation limits what a statement may do, not who knows a
secret.

If both a grant on `%` (every schema) and a grant on a schema's own name apply, the server only uses the latter. So a
harmless privilege on the system schemas keeps their tables from an account that may read all other schemas.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from enum import StrEnum

from controlplane.gateway.product import MARIADB, MYSQL, LocalProduct

HOST = "127.0.0.1"
# The role that a trial's session enables while it counts its hits, but not while it runs the statement.
COUNTING_ROLE = "fqc_counts"
# A grant on performance_schema is refused unless the underscore is escaped.
SYSTEM_SCHEMAS = ("mysql", "sys", r"performance\_schema")
READ_USER_SCHEMAS = [
    ("SELECT", "`%`.*"),
    *(("CREATE TEMPORARY TABLES", f"`{schema}`.*") for schema in SYSTEM_SCHEMAS),
]


class Use(StrEnum):
    WATCH = "watch"
    CHANGE = "change"
    TRIAL = "trial"


Grants = list[tuple[str, str]]

INSTALL_GRANTS: Grants = [("INSERT, DELETE", "`mysql`.`plugin`")]
# Setting variables needs SUPER, and some variables need a privilege of their own that SUPER no longer includes.
CHANGE_GRANTS: dict[str, Grants] = {
    MARIADB.name: [
        (
            "PROCESS, SUPER, BINLOG ADMIN, CONNECTION ADMIN, FEDERATED ADMIN, READ_ONLY ADMIN, SET USER, "
            "REPLICATION MASTER ADMIN, REPLICATION SLAVE ADMIN",
            "*.*",
        ),
        *INSTALL_GRANTS,
        ("INSERT, DELETE", "`mysql`.`func`"),
    ],
    MYSQL.name: [
        ("PROCESS", "*.*"),
        ("SYSTEM_VARIABLES_ADMIN, BINLOG_ADMIN, CONNECTION_ADMIN, REPLICATION_SLAVE_ADMIN", "*.*"),
        *INSTALL_GRANTS,
    ],
}
# MariaDB shows the reads per table only for tables that the account may read; MySQL has them in a table that needs a
# grant.
COUNTS_GRANTS: dict[str, Grants] = {
    MARIADB.name: [],
    MYSQL.name: [("SELECT", "`performance_schema`.`table_io_waits_summary_by_table`")],
}
# The history of each connection's last statements. MySQL grants it here; MariaDB only has it if its option file enables
# it.
HISTORY_GRANTS: dict[str, Grants] = {
    MARIADB.name: [],
    MYSQL.name: [("SELECT", "`performance_schema`.`events_statements_history`")],
}


class Need(StrEnum):
    """A use of a server by the control plane, for which a user's own server account needs privileges."""

    MONITOR = "monitoring"
    REPLICATION = "replication lag"
    CHANGE = "changing parameters"
    INSTALL = "installing"


NEEDS: dict[str, dict[Need, Grants]] = {
    MARIADB.name: {
        Need.MONITOR: [("PROCESS", "*.*")],
        Need.REPLICATION: [("SLAVE MONITOR", "*.*")],
        Need.CHANGE: [("SUPER", "*.*")],
        Need.INSTALL: INSTALL_GRANTS,
    },
    MYSQL.name: {
        Need.MONITOR: [("PROCESS", "*.*"), *COUNTS_GRANTS[MYSQL.name]],
        Need.REPLICATION: [("REPLICATION CLIENT", "*.*")],
        Need.CHANGE: [("SYSTEM_VARIABLES_ADMIN", "*.*")],
        Need.INSTALL: INSTALL_GRANTS,
    },
}


def grants(use: Use, product: LocalProduct) -> Grants:
    if use is Use.CHANGE:
        return CHANGE_GRANTS[product.name]
    return (
        READ_USER_SCHEMAS
        if use is Use.TRIAL
        else [("PROCESS", "*.*"), *READ_USER_SCHEMAS, *COUNTS_GRANTS[product.name], *HISTORY_GRANTS[product.name]]
    )


def account(use: Use, username: str, password: str) -> tuple[str, str]:
    """Returns name and password of a local server's account for a use.

    `username` and `password` are those of the `watch` account, from which the others are derived.
    """
    if use is Use.WATCH:
        return username, password
    name = f"{username}_{use}"
    return name, hmac.new(password.encode(), name.encode(), hashlib.sha256).hexdigest()


def owner_statement(product: LocalProduct, password: str) -> str:
    """Returns the SQL statement that gives the server's owner, the account with all privileges, its password, derived
    from `password`.

    It is run while the server is made and not reachable yet.
    """
    return f"ALTER USER '{product.owner}'@'localhost' IDENTIFIED BY '{owner_password(password)}';"


def owner_password(password: str) -> str:
    return hmac.new(password.encode(), b"owner", hashlib.sha256).hexdigest()


def statements(username: str, password: str, product: LocalProduct) -> Iterator[str]:
    """Yields the SQL statements that create every account and role of a local server with its grants.

    They replace those that exist. `username` and `password` are those of the `watch` account.
    """
    yield from _made_anew(product, "ROLE", f"`{COUNTING_ROLE}`")
    yield f"GRANT PROCESS ON *.* TO `{COUNTING_ROLE}`"
    for use in Use:
        name, secret = account(use, username, password)
        yield from _made_anew(product, "USER", f"'{name}'@'{HOST}'", f" IDENTIFIED BY '{secret}'")
        for rights, place in grants(use, product):
            yield f"GRANT {rights} ON {place} TO '{name}'@'{HOST}'"
    trial, _ = account(Use.TRIAL, username, password)
    yield f"GRANT `{COUNTING_ROLE}` TO '{trial}'@'{HOST}'"


def _made_anew(product: LocalProduct, what: str, name: str, how: str = "") -> Iterator[str]:
    if product is MARIADB:
        yield f"CREATE OR REPLACE {what} {name}{how}"
    else:
        yield f"DROP {what} IF EXISTS {name}"
        yield f"CREATE {what} {name}{how}"
