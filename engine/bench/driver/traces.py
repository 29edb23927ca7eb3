"""Records the reads of the published workloads in files. The cache's example `replay` uses them to compare evictions.

The ideal cache answers sysbench, which runs the workloads' own scripts on 100,000 rows, and records the reads. Writes
are not recorded, so the trace of table 4 has only its reads.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from driver import ideal, load
from driver.workload import Profile, read_profile, read_workload

TRACES = {
    "table 1, every one a hit": "point_hits",
    "table 2, read-only, 85 % of it hot": "read_only_hits",
    "table 3, read-only, 14 % of it hot": "read_only_misses",
    "table 4, read-write": "read_write",
    "table 5, a hot fifth": "cache_sizes",
}
READS = 1_000_000
ROWS = 4000
# The seed makes the trace always the same.
ORDER = ("--rand-seed=1",)
READS_OF_AN_EVENT = {"oltp_point_select": 1, "oltp_read_only": 14, "oltp_read_write": 14}


def record(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    profile = read_profile("full")
    for title, name in TRACES.items():
        print(title, flush=True)
        _record(folder / title, name, profile)


def _record(path: Path, name: str, profile: Profile) -> None:
    point = read_workload(name, profile.name).points(profile)[0]
    responder = ideal.Ideal("--record", str(path))
    try:
        command = load.run_command(responder.place, {**point, "threads": 1, "rows": ROWS, "seconds": 0})
        events = READS // READS_OF_AN_EVENT[point["script"]]
        command[-1:] = [*ORDER, f"--events={events}", "run"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    finally:
        responder.stop()
