"""Statements of a server without the engine, from its performance schema: what takes time, and whether texts repeat.

A digest counts executions with any literals. Repeated texts are found in the last few statements of each connection, so
the result is a lower bound. Executions of prepared statements are recorded without their values, and left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from controlplane.catalogue.normal import is_off
from controlplane.gateway.errors import PrivilegeMissing
from controlplane.gateway.numbers import whole
from controlplane.gateway.privileges import grant_statements
from controlplane.gateway.reports import DIGEST, DIGESTS, QUERY, REPEATED_RATIO, SAMPLED, SERVER_TIME
from controlplane.gateway.server import Server

# A server stores only the beginning of a longer text, so two of those may look the same.
_TEXTS = """
SELECT DIGEST, COUNT(*) AS sampled, COUNT(DISTINCT CURRENT_SCHEMA, SQL_TEXT) AS different
FROM performance_schema.events_statements_history
WHERE EVENT_NAME = 'statement/sql/select' AND DIGEST IS NOT NULL AND CHAR_LENGTH(SQL_TEXT) < 1000
AND CURRENT_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') GROUP BY DIGEST
"""
DIGESTS_OFF = "Add these lines to the server's option file and restart it: performance_schema = ON"
TABLE = "performance_schema.*"


# Below this share of the server's time, or of the reads, a near cache is hardly worth it.
LEAST_WORTH = 0.1
# A share of fewer reads than this says little.
ENOUGH_READS = 100


class Verdict(StrEnum):
    """What follows from an estimate for a near cache."""

    LITTLE_TIME = "little_time"  # reads take little of the server's time
    UNKNOWN = "unknown"  # no read is remembered with its text
    SMALL_SAMPLE = "small_sample"
    FEW_REPEAT = "few_repeat"
    MAY_PAY = "may_pay"


class Estimate(NamedTuple):
    """An estimate of what a near cache could answer for a server without the engine: the share of reads in the server's
    time, the number of sampled reads, and how many of those repeat the text of an earlier one.
    """

    read_time_ratio: float
    sampled: int
    repeated: int

    @property
    def verdict(self) -> Verdict:
        if self.read_time_ratio < LEAST_WORTH:
            return Verdict.LITTLE_TIME
        if not self.sampled:
            return Verdict.UNKNOWN
        if self.sampled < ENOUGH_READS:
            return Verdict.SMALL_SAMPLE
        return Verdict.FEW_REPEAT if self.repeated / self.sampled < LEAST_WORTH else Verdict.MAY_PAY


class Digests(NamedTuple):
    """The figures per statement from a server's performance schema. `texts` has, by digest, the number of recent reads
    that the server remembers, and of their different texts.

    `note` says why there are no rows, and `reason` is a stable code for that; both are empty if there are rows.
    """

    rows: list[dict[str, str | None]]
    texts: dict[str, tuple[int, int]] = {}
    note: str = ""
    reason: str = ""


def digests_of(server: Server) -> Digests:
    if is_off(server.variable("performance_schema")):
        return Digests([], note=f"The server keeps no figures per statement. {DIGESTS_OFF}", reason="digests_off")
    try:
        rows = server.named_rows(DIGESTS)
        texts = {str(digest): (int(sampled), int(different)) for digest, sampled, different in server.rows(_TEXTS)}
    except PrivilegeMissing as error:
        [statement] = grant_statements([("SELECT", TABLE)], server.account)
        return Digests([], note=f"The account lacks a privilege. Run on the server: {statement}", reason=error.code)
    for row in rows:
        sampled, different = texts.get(row[DIGEST] or "", (0, 0))
        row[SAMPLED] = str(sampled)
        row[REPEATED_RATIO] = f"{(sampled - different) / sampled:.4f}" if sampled else None
        row[DIGEST] = row.pop(DIGEST)  # last, since it is long and of no use to people
    return Digests(rows, texts)


def estimate(rows: Sequence[Mapping[str, str | None]], texts: Mapping[str, tuple[int, int]]) -> Estimate | None:
    times = [(is_read(row[QUERY] or ""), whole(row[SERVER_TIME]) or 0) for row in rows]
    every = sum(time for _, time in times)
    if not every:
        return None
    sampled, different = (sum(counts) for counts in zip((0, 0), *texts.values(), strict=True))
    return Estimate(sum(time for reads, time in times if reads) / every, sampled, sampled - different)


def is_read(text: str) -> bool:
    return text.lstrip("( ").upper().startswith(("SELECT", "WITH"))
