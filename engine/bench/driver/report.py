"""Reads what sysbench has printed.

Invariant: a line that is not there is an error that shows the whole output, never a zero.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


class UnreadableReport(ValueError):
    """sysbench's output lacks a line that every finished run has."""


@dataclass(frozen=True)
class Report:
    reads: int
    queries: int
    queries_per_second: float
    ignored_errors: int
    seconds: float
    # For each bucket: its upper bound in milliseconds, and the number of events that fell into it.
    histogram: tuple[tuple[float, int], ...]

    def percentile_ms(self, percent: float) -> float:
        wanted = sum(count for _, count in self.histogram) * percent / 100
        reached = 0
        for value, count in self.histogram:
            reached += count
            if reached >= wanted:
                return value
        raise UnreadableReport("the latency histogram is empty")


BUCKET = re.compile(r"^\s*([\d.]+) \|\**\s*(\d+)$", re.MULTILINE)


def read_report(output: str) -> Report:
    return Report(
        reads=int(_number(r"^\s+read:\s+(\d+)", output)),
        queries=int(_number(r"^\s+queries:\s+(\d+)", output)),
        queries_per_second=_number(r"^\s+queries:\s+\d+\s+\(([\d.]+) per sec", output),
        ignored_errors=int(_number(r"^\s+ignored errors:\s+(\d+)", output)),
        seconds=_number(r"^\s+total time:\s+([\d.]+)s", output),
        histogram=tuple((float(value), int(count)) for value, count in BUCKET.findall(output)),
    )


def read_client_seconds(output: str) -> float:
    """Returns the processor seconds that one of our sysbench scripts has printed for its own process."""
    return _number(r"^processor time: ([\d.]+)$", output)


def _number(pattern: str, output: str) -> float:
    found = re.search(pattern, output, re.MULTILINE)
    if not found:
        raise UnreadableReport(f"sysbench printed no line like `{pattern}`:\n{output}")
    return float(found.group(1))
