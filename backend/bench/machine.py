"""Describes the machine that a run was measured on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from testing.postgres import programs


def machine() -> dict[str, Any]:
    postgres = subprocess.run([programs() / "postgres", "--version"], capture_output=True, text=True, check=True)
    return {
        "cpu": cpu(),
        "cores": cores(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "postgresql": postgres.stdout.split()[2],
        "load_before": load(),
    }


def load() -> list[float]:
    return [round(each, 1) for each in os.getloadavg()]


def cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def run_name() -> str:
    """Returns the name of a run's folder: date and machine."""
    words = re.sub(r"\([^)]*\)|@.*", " ", cpu()).lower().split()
    slug = "-".join(word for word in words if re.fullmatch(r"[a-z0-9-]+", word) and word not in ("cpu", "processor"))
    return f"{datetime.now(UTC):%Y-%m-%d}-{slug}-{cores()}-cores"
