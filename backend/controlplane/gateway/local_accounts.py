"""The accounts of a local MariaDB server: one for each use, with the least that the use takes. Pure.

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


GRANTS = {
    # Reads per table are counted by the server for those alone who may read the table.
    Use.WATCH: [("PROCESS", "*.*"), *READ_USER_SCHEMAS],
    # Variables take SUPER, and some a right of their own, which SUPER does not include any more.
    Use.CHANGE: [
        (
            "PROCESS, SUPER, BINLOG ADMIN, CONNECTION ADMIN, FEDERATED ADMIN, READ_ONLY ADMIN, SET USER, "
            "REPLICATION MASTER ADMIN, REPLICATION SLAVE ADMIN",
            "*.*",
        ),
        ("INSERT, DELETE", "`mysql`.`plugin`"),
        ("INSERT, DELETE", "`mysql`.`func`"),
    ],
    Use.TRIAL: READ_USER_SCHEMAS,
}


def account(use: Use, username: str, password: str) -> tuple[str, str]:
    """Name and password, from those of the account that watches."""
    if use is Use.WATCH:
        return username, password
    name = f"{username}_{use}"
    return name, hmac.new(password.encode(), name.encode(), hashlib.sha256).hexdigest()


def statements(username: str, password: str) -> Iterator[str]:
    """They make every account what it is to be, whatever it was."""
    yield f"CREATE OR REPLACE ROLE `{COUNTING_ROLE}`"
    yield f"GRANT PROCESS ON *.* TO `{COUNTING_ROLE}`"
    for use, grants in GRANTS.items():
        name, secret = account(use, username, password)
        yield f"CREATE OR REPLACE USER '{name}'@'{HOST}' IDENTIFIED BY '{secret}'"
        for rights, place in grants:
            yield f"GRANT {rights} ON {place} TO '{name}'@'{HOST}'"
    trial, _ = account(Use.TRIAL, username, password)
    yield f"GRANT `{COUNTING_ROLE}` TO '{trial}'@'{HOST}'"
