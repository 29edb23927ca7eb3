"""Growth of one server's counts per statement between notes. Pure.

A count that went down started again at 0: the server was restarted, or its counters were reset. A note holds a limited
number of statements. If it is full, a statement that is not in it may have been counted before; its growth until the
next note is unknown and left out. So the figures of a period are never too high.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from controlplane.gateway.reports import (
    DIGEST,
    DIGEST_COUNTERS,
    EXECUTIONS,
    HIT_RATIO,
    HITS,
    MEAN_TIME,
    OBSERVED_HITS,
    OBSERVED_RATIO,
    OBSERVED_REQUESTS,
    QUERY_COUNTERS,
    REASONS_TOLD,
    SERVER_TIME,
)

MOST_STATEMENTS = 300
COUNTED = (*QUERY_COUNTERS, *DIGEST_COUNTERS)
# These limits keep a note small and its numbers valid, whatever the server sends.
MOST_REASONS = 64
_DIGEST, _NUMBER = re.compile(r"\w{0,64}"), re.compile(r"[0-9]{1,18}")
_REASON = re.compile(r"(\w{1,64})=([0-9]{1,18})(?![^,])")
# Columns that are ratios, with the two counts that each is computed from.
_RATIOS = {HIT_RATIO: (HITS, EXECUTIONS), OBSERVED_RATIO: (OBSERVED_HITS, OBSERVED_REQUESTS)}
Row = Mapping[str, str | None]
Counts = dict[str, dict[str, int]]  # by digest; the keys are columns, and reasons as `=name`


def counts_of(rows: Iterable[Row]) -> Counts:
    """Returns, by digest, the counts of the statements that were executed most, at most MOST_STATEMENTS, from the rows
    of a server's report.
    """
    found = {digest: _counts(row) for row in rows if _DIGEST.fullmatch(digest := row.get(DIGEST) or "")}
    most = sorted(found, key=lambda digest: -found[digest].get(EXECUTIONS, 0))[:MOST_STATEMENTS]
    return {digest: found[digest] for digest in most}


def grown_between(notes: Sequence[Counts], digest: str) -> list[dict[str, int] | None]:
    """Returns a statement's growth from each note (counts stored at one time) to the next, oldest first.

    None where it is unknown, because the earlier note is full and does not have the statement.
    """
    return [
        _growth(before.get(digest, {}), after.get(digest, {}))
        if digest in before or len(before) < MOST_STATEMENTS
        else None
        for before, after in pairwise(notes)
    ]


def grown(notes: Sequence[Counts], rows: Sequence[Row]) -> list[dict[str, str | None]]:
    """Returns the server's present rows with their counts replaced by what was counted since the first note (counts
    stored at one time), without rows that were not executed since then.
    """
    total: dict[str, Counter[str]] = {}
    now = {row.get(DIGEST) or "": _counts(row) for row in rows}
    for before, after in zip(notes, [*notes[1:], now], strict=True):
        for digest, counts in after.items():
            if digest in before or len(before) < MOST_STATEMENTS:
                total.setdefault(digest, Counter()).update(_growth(before.get(digest, {}), counts))
    spans = [(row, total.get(row.get(DIGEST) or "", Counter())) for row in rows]
    return [_row(row, counts) for row, counts in spans if counts[EXECUTIONS]]


def _counts(row: Row) -> dict[str, int]:
    told = {name: row.get(name) or "" for name in COUNTED}
    told |= {f"={name}": count for name, count in _REASON.findall(row.get(REASONS_TOLD) or "")[:MOST_REASONS]}
    return {name: int(text) for name, text in told.items() if _NUMBER.fullmatch(text) and text != "0"}


def _growth(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    has_begun_again = after.get(EXECUTIONS, 0) < before.get(EXECUTIONS, 0)
    was = {} if has_begun_again else before
    return {name: count - was.get(name, 0) for name, count in after.items() if count > was.get(name, 0)}


def _row(row: Row, counts: Counter[str]) -> dict[str, str | None]:
    reasons = [(name[1:], count) for name, count in counts.most_common() if name.startswith("=")]
    return {
        **row,
        **{name: str(counts[name]) for name in COUNTED if name in row},
        **({MEAN_TIME: str(counts[SERVER_TIME] // max(counts[EXECUTIONS], 1))} if MEAN_TIME in row else {}),
        **{
            name: f"{counts[hits] / max(counts[requests], 1):.4f}"
            for name, (hits, requests) in _RATIOS.items()
            if name in row
        },
        **({REASONS_TOLD: ", ".join(f"{name}={count}" for name, count in reasons)} if REASONS_TOLD in row else {}),
    }
