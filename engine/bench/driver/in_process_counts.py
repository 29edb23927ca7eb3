"""The cost of a read in the client's own process: its instructions outside the kernel and its system calls, by a socket
and in the process, and the memory that this takes.

Counts do not depend on how busy the machine is. A client (sysbench) sends a number of reads, and again more of them;
the difference is what the further reads cost. So connecting and warming up do not count. A tool that is not installed
is named, and its counts are missing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from driver import configuration, instructions, load
from driver.counters import NotCounted, read_profile
from driver.generator import refuse_failure
from driver.near import IN_PROCESS, LIBRARY, SOCKET, Near, by_feed, make_feed, sharing
from driver.product import MARIADB
from driver.server import Server
from driver.tables import NOTHING, figure, table

NEEDED = ("sysbench",)
WANTED = ("valgrind", "strace")
FEWER, MORE = 3000, 13_000
HITS, MISSES = "a hit", "a read that is new"
# The share of reads that repeat.
SCRIPTS = {HITS: 100, MISSES: 0}
KIB = 1024
Say = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    near: str
    script: str
    # None: the tool is missing.
    instructions: float | None
    in_library: float | None
    calls: Counter[str] | None
    # The largest resident memory of the client that sent fewer reads.
    client_bytes: int


def measure(say: Say) -> str:
    """Counts the instructions of a hit and the memory of a client, with reads through a near cache's socket and with
    reads in the client's own process. Returns tables in Markdown."""
    missing = [tool for tool in WANTED if not shutil.which(tool)]
    for tool in missing:
        say(f"NOT COUNTED: {tool} is not installed; run `make ready-bench`")
    folder = Path(tempfile.mkdtemp(prefix="fqc-in-process-"))
    try:
        server = instructions.load(folder, MARIADB)
        with _served(server) as nears:
            rows = [_counted(near, name, folder, missing, say) for name in SCRIPTS for near in nears]
            memory = [
                [name, figure(_shown(near, "RssAnon")), figure(_shown(near, "RssShmem"))]
                for name, near in zip((SOCKET, IN_PROCESS), nears, strict=True)
            ]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    said = "".join(f"NOT COUNTED: {tool} is not installed.\n" for tool in missing)
    return said + render(rows) + "\n" + table(["Near cache", "own memory, KiB", "shared memory, KiB"], memory)


@contextmanager
def _served(server: Server) -> Iterator[list[Near]]:
    nears: list[Near] = []
    try:
        configuration.start(configuration.BEHIND, server, ())
        configuration.empty_cache(configuration.BEHIND, server, instructions.CACHE_MB)
        make_feed(server)
        nears = [Near(SOCKET, server.folder, server, by_feed(server.folder)), sharing(server.folder, server)]
        yield nears
    finally:
        for near in nears:
            near.stop()
        server.stop()


def _command(near: Near, hit_percent: int, events: int) -> list[str]:
    conditions = {
        "script": "mix",
        "seconds": 0,
        "threads": 1,
        "tables": 1,
        "rows": 100_000,
        "ps_mode": "disable",
        "is_tls": False,
        "options": {"hit-percent": hit_percent, "hot-rows": 100},
    }
    return [*load.run_command(near.place, conditions), f"--events={events}"]


def _run(near: Near, folder: Path, command: Sequence[str]) -> int:
    """Runs a client, and returns its largest resident memory in bytes."""
    printed = folder / "output"
    with printed.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env=os.environ | near.environment
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    refuse_failure(command, process.returncode, printed.read_text())
    return used.ru_maxrss * KIB


def _counted(near: Near, name: str, folder: Path, missing: Sequence[str], say: Say) -> Row:
    way = IN_PROCESS if near.environment else SOCKET
    say(f"{way}: {name}")
    few, many = (_command(near, SCRIPTS[name], events) for events in (FEWER, MORE))
    for _ in range(2):
        client_bytes = _run(near, folder, few)
    total: float | None = None
    own: float | None = None
    calls: Counter[str] | None = None
    if "valgrind" not in missing:
        fewer, more = (_instructions(near, folder, command) for command in (few, many))
        total, own = (more[0] - fewer[0]) / (MORE - FEWER), (more[1] - fewer[1]) / (MORE - FEWER)
    if "strace" not in missing:
        first, second = (_calls(near, folder, command) for command in (few, many))
        calls = Counter({call: second[call] - first[call] for call in second if second[call] != first[call]})
    return Row(way, name, total, own, calls, client_bytes)


def _instructions(near: Near, folder: Path, command: Sequence[str]) -> tuple[int, int]:
    """Returns the number of instructions of a client, and those of them in the library."""
    profile = folder / "callgrind.out"
    tool = ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={profile}"]
    _run(near, folder, [*tool, *command])
    counted = read_profile(profile.read_text())
    if near.environment and not counted.by_object[LIBRARY.name]:
        raise NotCounted(f"{LIBRARY} was not loaded into the client")
    return counted.total, counted.by_object[LIBRARY.name]


def _calls(near: Near, folder: Path, command: Sequence[str]) -> Counter[str]:
    said = folder / "strace"
    _run(near, folder, ["strace", "-f", "-qq", "-c", "-U", "calls,name", "-o", str(said), *command])
    lines = (line.split() for line in said.read_text().splitlines())
    calls = Counter({line[1]: int(line[0]) for line in lines if len(line) == 2 and line[0].isdigit()})
    del calls["total"]
    return calls


def _shown(near: Near, what: str) -> int:
    found = re.search(rf"^{what}:\s+(\d+) kB$", Path(f"/proc/{near.pid}/status").read_text(), re.MULTILINE)
    return int(found[1]) if found else 0


def render(rows: list[Row]) -> str:
    header = [
        "Read",
        "Near cache",
        "Instructions of the client",
        "in the library",
        "System calls",
        "most frequent",
        "Client's memory, KiB",
    ]
    return table(header, [_line(row) for row in rows])


def _line(row: Row) -> list[str]:
    calls = NOTHING if row.calls is None else figure(sum(row.calls.values()) / (MORE - FEWER))
    most = ", ".join(f"{name} {count / (MORE - FEWER):.2f}" for name, count in (row.calls or Counter()).most_common(3))
    return [
        row.script,
        row.near,
        NOTHING if row.instructions is None else f"{row.instructions:,.0f}",
        NOTHING if row.in_library is None else f"{row.in_library:,.0f}",
        calls,
        most or NOTHING,
        f"{row.client_bytes // KIB:,}",
    ]
