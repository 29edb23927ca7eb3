"""Checks that a trial's account can only SELECT in the schemas of users; if not, says how to make one.

The server is asked, since grants change. A trial with a more powerful account is not run: the user writes the
statement, and the account decides what it can reach.
"""

from __future__ import annotations

from controlplane.core.errors import Conflict
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.local_accounts import COUNTING_ROLE, READ_USER_SCHEMAS
from controlplane.gateway.privileges import granted
from controlplane.gateway.product import NO_PRIVILEGE_ERRORS, PRODUCTS
from controlplane.gateway.server import Server

HARMLESS = {"USAGE", "SELECT", "SHOW VIEW", "CREATE TEMPORARY TABLES"}
ACCOUNT_TABLES = dict.fromkeys(table for product in PRODUCTS for table in product.account_tables)
SYSTEM_TABLES = (*ACCOUNT_TABLES, "performance_schema.threads")
NAME = "'fqc_trial'@'%'"
STATEMENTS = [
    f"CREATE USER {NAME} IDENTIFIED BY '<a password>';",
    *(f"GRANT {rights} ON {place} TO {NAME};" for rights, place in READ_USER_SCHEMAS),
    # This role lets the control plane count a trial's hits; the tried statement runs without it.
    f"CREATE ROLE {COUNTING_ROLE};",
    f"GRANT PROCESS ON *.* TO {COUNTING_ROLE};",
    f"GRANT {COUNTING_ROLE} TO {NAME};",
]


class TrialAccountNeeded(Conflict):
    code, title = "trial_account_needed", "Trials need an account that may only SELECT"


def trial_account_check(server: Server, instance_name: str, username: str) -> None:
    server.run("SET ROLE NONE")  # SHOW GRANTS leaves out the privileges of default roles
    excess = sorted(_more_than_reading(server)) or _system_tables(server)
    if excess:
        needed = TrialAccountNeeded(
            f"{username} may do more on {instance_name} than SELECT in the schemas of users: {', '.join(excess)}. "
            "Make an account for trials with the statements given here, and name it as the instance's trial account."
        )
        needed.statements = STATEMENTS
        raise needed


def _more_than_reading(server: Server) -> set[str]:
    found: set[str] = set()
    for rights, place in granted(server):
        found |= rights - ({"USAGE"} if place == "*.*" else HARMLESS)
    return found


def _system_tables(server: Server) -> list[str]:
    """Returns the system tables that the account may read, by whatever grant, as privileges to show; empty if there are
    none.
    """
    return [f"SELECT on {table}" for table in SYSTEM_TABLES if _is_read(server, table)]


def _is_read(server: Server, table: str) -> bool:
    try:
        server.rows(f"SELECT 1 FROM {table} LIMIT 0")  # noqa: S608 - one of the constants above
    except GatewayError as error:
        return error.number not in NO_PRIVILEGE_ERRORS
    return True
