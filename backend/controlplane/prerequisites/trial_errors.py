"""Errors of a trial's statement: the error number and our own text, never the server's.

A server's message quotes what it read: `EXTRACTVALUE(1, (SELECT ...))` puts any value that the account may see into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from controlplane.gateway.errors import AnswerTooLong, GatewayError, RefusedStatement, Unreachable
from controlplane.gateway.product import PRODUCTS
from controlplane.gateway.server import SKIPPED_BYTES

NO_PRIVILEGE = "the trial account is not allowed to do that: it can only SELECT, and not from system schemas"
TOO_LONG = "it took too long"
# Texts by error number, which is the same in every product.
MEANINGS = {
    1045: NO_PRIVILEGE,
    1044: NO_PRIVILEGE,
    1142: NO_PRIVILEGE,
    1143: NO_PRIVILEGE,
    1227: NO_PRIVILEGE,
    1370: NO_PRIVILEGE,
    1046: "no database is chosen",
    1049: "there is no such database",
    1146: "there is no such table",
    1109: "there is no such table",
    1054: "there is no such column",
    1052: "a column's name is ambiguous",
    1305: "there is no such function",
    1064: "a syntax error",
    1149: "a syntax error",
    1136: "the number of columns does not match",
    1222: "the number of columns does not match",
    1241: "a subquery has the wrong number of columns",
    1242: "a subquery returns more than one row",
    1140: "columns and aggregates are mixed without GROUP BY",
    1055: "a column is neither grouped nor aggregated",
    1111: "an aggregate function is used where none is allowed",
    1792: "it writes, and a trial only reads",  # the error of a read-only transaction
    1205: TOO_LONG,
    1317: TOO_LONG,
} | {number: TOO_LONG for product in PRODUCTS for number in product.timeout_errors}


@contextmanager
def without_server_text(place: str) -> Iterator[None]:
    """Wraps code that runs a user's statement.

    GatewayErrors are raised again without the server's text, which may quote data. `place` is the server's address.
    """
    try:
        yield
    except Unreachable as error:
        raise Unreachable(f"{place}: the statement took too long, or the connection broke.") from error
    except AnswerTooLong as error:
        limit = SKIPPED_BYTES // 1024**2
        raise AnswerTooLong(
            f"{place}: a trial reads at most {limit} MiB of a result. Add a LIMIT to the statement."
        ) from error
    except GatewayError as error:
        number = error.number
        meaning = MEANINGS.get(number, "see its number in the server's manual")
        raise RefusedStatement(f"{place} refused the statement with error {number}: {meaning}.", number) from error
