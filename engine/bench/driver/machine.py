"""What the figures were measured on. No name of the machine, no place on it."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

from driver.configuration import PLUGIN
from driver.server import MARIADBD, SETTINGS

GIGABYTE = 1 << 30


def describe() -> dict[str, Any]:
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIGABYTE),
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release()["PRETTY_NAME"],
        "server": _said(MARIADBD, "--version").split("  ", 1)[-1],
        "sysbench": _said("sysbench", "--version"),
        "plugin_sha256": hashlib.sha256(PLUGIN.read_bytes()).hexdigest(),
        "commit": _said("git", "-C", str(PLUGIN.parent.parent), "describe", "--always", "--dirty", "--exclude=*"),
        "server_arguments": SETTINGS,
        "load_before": round(os.getloadavg()[0], 2),
    }


def slug(machine: dict[str, Any]) -> str:
    return re.sub(r"[^a-z0-9]+", "-", f"{machine['processor']} {machine['cores']} cores".lower()).strip("-")


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
