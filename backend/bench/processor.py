"""CPU time of other processes: of a process, of its children, and of those of them that have ended."""

from __future__ import annotations

import os
from pathlib import Path

from django.db import connection

TICKS = os.sysconf("SC_CLK_TCK")


def seconds_of_tree(pid: int) -> float:
    """Returns the CPU seconds of a process and its descendants that are alive or whose parent has waited for them."""
    total, left, children = 0.0, [pid], _children()
    while left:
        each = left.pop()
        total += sum(_times(each))
        left += children.get(each, [])
    return total


def postgres_pid() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SHOW data_directory")
        return int((Path(cursor.fetchone()[0]) / "postmaster.pid").read_text().split()[0])


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := _fields(int(folder.name))):
            found.setdefault(int(fields[1]), []).append(int(folder.name))
    return found


def _times(pid: int) -> list[float]:
    return [int(each) / TICKS for each in _fields(pid)[11:15]]


def _fields(pid: int) -> list[str]:
    """Returns the fields of /proc/pid/stat after the name in parentheses; none if the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
