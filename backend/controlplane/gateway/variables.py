"""Reads all variables of a server, as rows for `catalogue.server_variables`.

If a product does not list which variables can be set, this is tested with statements that always fail. Each would set
two variables, and the second can never be set; a server makes no assignment before it has checked all. The error names
one of them, which tells whether the first can be set. The first would get its present value, and privileges are checked
later still.
"""

from __future__ import annotations

from typing import Any

from pymysql.constants import ER

from controlplane.gateway.errors import RefusedStatement
from controlplane.gateway.product import Product
from controlplane.gateway.server import Server, quoted

Row = tuple[Any, ...]
NAME, SCOPE = 0, 3
NOT_SET = {ER.INCORRECT_GLOBAL_LOCAL_VAR}  # the errors that say that a variable is read-only


def variable_rows(server: Server, product: Product) -> list[Row]:
    """Returns a row for each variable of the server, in the form that `catalogue.server_variables` reads; empty if the
    server cannot describe its variables.

    Changes no variable.
    """
    for query in product.variables_queries:
        try:
            rows = server.rows(query)
        except RefusedStatement:  # a query for another version
            continue
        return [_asked(server, product, row) for row in rows] if product.never_set else rows
    return []


def _asked(server: Server, product: Product, row: Row) -> Row:
    """Returns the row with its last two columns filled in: whether the variable is read-only, and whether the server
    accepts a value for its next start.
    """
    name, is_of_session = str(row[NAME]), row[SCOPE] == "SESSION ONLY"
    is_static = not is_of_session and _is_refused(server, "GLOBAL", name, product.never_set)
    is_kept = is_static and not _is_refused(server, "PERSIST_ONLY", name, product.never_set)
    return (*row[:-2], "YES" if is_static else "NO", "REQUIRED" if is_kept or not is_static else None)


def _is_refused(server: Server, how: str, name: str, never_set: str) -> bool:
    if name == never_set:
        return True
    try:
        server.run(f"SET {how} {quoted(name)} = @@GLOBAL.{quoted(name)}, {how} {quoted(never_set)} = 1")
    except RefusedStatement as error:
        return error.number in NOT_SET and never_set not in error.detail.removeprefix(server.place)
    return False
