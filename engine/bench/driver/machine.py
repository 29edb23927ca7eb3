"""Describes the machine that was measured on, without its name and paths, and measures processor time on it."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

GIGABYTE = 1 << 30
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def describe(programs: Sequence[str], plugin: Path) -> dict[str, Any]:
    """Returns facts about the machine, the versions of these programs, and the plugin's hash and commit."""
    return {
        "processor": _processor(),
        # The processors that this process and its children may use; `taskset` can restrict them.
        "cores": len(os.sched_getaffinity(0)),
        "all_cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIGABYTE),
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release()["PRETTY_NAME"],
        "versions": [_version(program) for program in programs],
        "plugin_sha256": hashlib.sha256(plugin.read_bytes()).hexdigest(),
        "commit": _said("git", "-C", str(plugin.parent), "describe", "--always", "--dirty", "--exclude=*"),
    }


def slug(machine: dict[str, Any]) -> str:
    return re.sub(r"[^a-z0-9]+", "-", f"{machine['processor']} {machine['cores']} cores".lower()).strip("-")


def busy_seconds() -> float:
    """Returns the processor seconds that all processes, also those of other virtual machines, have used on the cores
    of this process since the boot."""
    ours = {f"cpu{core}" for core in os.sched_getaffinity(0)}
    cores = (line.split() for line in Path("/proc/stat").read_text().splitlines())
    return sum(_busy_ticks(ticks) for name, *ticks in cores if name in ours) / TICKS_PER_SECOND


def _busy_ticks(ticks: Sequence[str]) -> int:
    user, nice, system, _idle, _waiting, *rest = map(int, ticks[:8])
    return user + nice + system + sum(rest)


def process_seconds(pid: int) -> float:
    """Returns user and system time, in seconds, of a process with all its threads, in the kernel's steps of about 10
    ms."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def exact_seconds(pid: int) -> float:
    """Returns the processor seconds of the threads that a process has now, to the nanosecond.

    Threads that end meanwhile are left out. Raises FileNotFoundError if there is no such process.
    """
    return sum(_nanoseconds(thread / "schedstat") for thread in Path(f"/proc/{pid}/task").iterdir()) / 1e9


def _nanoseconds(schedstat: Path) -> int:
    """Returns the processor time of a thread, 0 if it has ended."""
    try:
        return int(schedstat.read_text().split()[0])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(program: str) -> str:
    """Returns what the program prints as its version, without the path that a server puts at the beginning."""
    return re.sub(r"^/\S+\s+", "", _said(program, "--version"))


def _said(*command: str) -> str:
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ).stdout.strip()
