"""Checks a run: no page differs where it must not, and enough reads are hits."""

from __future__ import annotations

from collections.abc import Iterator

from lab.measure import Result
from lab.stage import ALWAYS_SAME

# The least hits in percent of reads, by application and mode. They are far below the measured values, so that only a
# fault falls below them. `binlog` has none, since its hits depend on the time between two visits.
LEAST_HITS: dict[str, dict[str, float]] = {
    "wordpress": {"plugin": 60, "exact": 60},
    "mediawiki": {"plugin": 45, "exact": 40},
    "wagtail": {"plugin": 45, "exact": 45},
    "ghost": {"plugin": 45},
}


def complaints(application: str, result: Result) -> Iterator[str]:
    for one in result.differences:
        if one.mode in ALWAYS_SAME:
            lines = "\n    ".join(one.lines)
            yield f"{application}, {one.mode}, round {one.round}: the page differs after «{one.step}»:\n    {lines}"
    for mode, least in LEAST_HITS.get(application, {}).items():
        found = result.hits(mode)
        if found and min(found) < least:
            yield f"{application}, {mode}: {min(found):.1f} % of reads are hits, less than {least} %"
