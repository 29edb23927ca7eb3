"""The accounts of a local server: one for each use, with the least that the use takes; and what others need. Pure.

`watch` looks, `change` sets and installs, `trial` runs what operators write. None has FILE. The latter two follow from
the first one's name and password: what they keep apart is what a statement may do, not who knows a secret.

Where a grant on `%` (every schema) meets one on a schema's own name, the server goes by the latter alone. So a right of
no consequence on the system schemas keeps their tables from an account that may read all others.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from enum import StrEnum

from controlplane.gateway.product import MARIADB, MYSQL, LocalProduct

HOST = "127.0.0.1"
# What a trial's session is lent while it counts its hits, and not while it runs the statement.
COUNTING_ROLE = "fqc_counts"
# A grant on performance_schema under its plain name is refused.
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
# Variables take SUPER, and some a right of their own, which SUPER does not include any more.
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
# Reads per table are counted for those alone who may read the table, or in a table that must be named.
COUNTS_GRANTS: dict[str, Grants] = {
    MARIADB.name: [],
    MYSQL.name: [("SELECT", "`performance_schema`.`table_io_waits_summary_by_table`")],
}
# The last statements of each connection. MySQL keeps them; MariaDB only if its option file says so.
HISTORY_GRANTS: dict[str, Grants] = {
    MARIADB.name: [],
    MYSQL.name: [("SELECT", "`performance_schema`.`events_statements_history`")],
}


class Need(StrEnum):
    """What the account of a server takes that somebody else set up."""

    MONITOR = "monitoring"
    CHANGE = "changing parameters"
    INSTALL = "installing"


NEEDS: dict[str, dict[Need, Grants]] = {
    MARIADB.name: {
        Need.MONITOR: [("PROCESS", "*.*")],
        Need.CHANGE: [("SUPER", "*.*")],
        Need.INSTALL: INSTALL_GRANTS,
    },
    MYSQL.name: {
        Need.MONITOR: [("PROCESS", "*.*"), *COUNTS_GRANTS[MYSQL.name]],
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
    """Name and password, from those of the account that watches."""
    if use is Use.WATCH:
        return username, password
    name = f"{username}_{use}"
    return name, hmac.new(password.encode(), name.encode(), hashlib.sha256).hexdigest()


def owner_statement(product: LocalProduct, password: str) -> str:
    """What a server that is made runs, before anybody can reach it."""
    return f"ALTER USER '{product.owner}'@'localhost' IDENTIFIED BY '{owner_password(password)}';"


def owner_password(password: str) -> str:
    return hmac.new(password.encode(), b"owner", hashlib.sha256).hexdigest()


def statements(username: str, password: str, product: LocalProduct) -> Iterator[str]:
    """They make every account what it is to be, whatever it was."""
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
