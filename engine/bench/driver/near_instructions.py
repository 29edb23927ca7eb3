"""The cost of a read that a near cache (`fqc-near`) passes on or answers, in its instructions outside the kernel, for
each of its modes.

Counts do not depend on how busy the machine is. The near cache runs under callgrind, and the server by itself.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from driver import configuration, instructions, script
from driver.counters import NotCounted
from driver.near import FEED, RULE, Near, by_feed, make_feed
from driver.product import MARIADB
from driver.script import Client, Script
from driver.server import Server
from driver.tables import figure, table

TOOLS = ("valgrind", "callgrind_control")
# A near cache by the log needs a server that writes rows to its binary log.
LOG = ("--log-bin=binlog", "--binlog-format=ROW", "--log-slave-updates", "--server-id=1")
RELAY, EXACT, BY_LOG, BY_RULES = MODES = ("relays only", "exact, by leases", "by the log", "by rules")
# So many that each of the hot rows was read several times.
WARM_READS = 10 * script.HOT_ROWS


def hot_read(client: Client) -> int:
    client.query(script.POINT.format(client.random.randint(1, script.HOT_ROWS), 1))
    return 1


def hot_execution(client: Client) -> int:
    client.execute("SELECT c FROM sbtest1 WHERE id=? LIMIT ?", client.random.randint(1, script.HOT_ROWS), 1)
    return 1


# Each script with the number of times that it is called.
SCRIPTS: dict[str, tuple[Script, int]] = {
    "read that repeats": (hot_read, 2000),
    "execution that repeats": (hot_execution, 2000),
    "read that is new": (script.read, 1000),
    "execution that is new": (script.execute, 1000),
    "write": (script.write, 300),
}


@dataclass(frozen=True)
class Row:
    mode: str
    script: str
    instructions: float
    hits: float


def measure(say: Callable[[str], None]) -> str:
    """Measures all modes, and returns a table in Markdown."""
    folder = Path(tempfile.mkdtemp(prefix="fqc-near-counts-"))
    try:
        first = instructions.load(folder, MARIADB)
        rows = [row for mode in MODES for row in _in_mode(mode, first.copy(folder / mode.split()[-1]), say)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return render(rows)


def _in_mode(mode: str, server: Server, say: Callable[[str], None]) -> Iterator[Row]:
    with _served(mode, server) as near:
        for name, (one, times) in SCRIPTS.items():
            say(f"{mode}: {name}")
            yield _counted(mode, name, near, Client(near), one, times)


@contextmanager
def _served(mode: str, server: Server) -> Iterator[Near]:
    kind = configuration.BEHIND if mode == EXACT else "OFF"
    try:
        # The server uses the last of several options that contradict each other.
        configuration.start(kind, server, () if mode == EXACT else LOG)
        configuration.empty_cache(kind, server, instructions.CACHE_MB)
        make_feed(server)
        server.rows(f"GRANT ALL ON *.* TO {FEED}@127.0.0.1")
        tool = ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={server.folder / 'callgrind'}"]
        near = Near("NEAR", server.folder, server, _options(mode, server.folder), tool)
        try:
            yield near
        finally:
            near.stop()
    finally:
        server.stop()


def _options(mode: str, folder: Path) -> list[str | Path]:
    if mode == EXACT:
        return by_feed(folder)
    if mode == BY_LOG:
        return [str(option).replace("--feed-", "--binlog-") for option in by_feed(folder)]
    rules = folder / "rules.toml"
    rules.write_text(RULE)
    return ["--rules", rules] if mode == BY_RULES else []


def _counted(mode: str, name: str, near: Near, client: Client, one: Script, times: int) -> Row:
    for _ in range(WARM_READS):
        one(client)
    hits = 0 if mode == RELAY else near.hits("Near")
    _control(near, "--zero")
    sent = sum(one(client) for _ in range(times))
    _control(near, f"--dump={name}")
    taken = _total(near.folder, name)
    hits = 0 if mode == RELAY else near.hits("Near") - hits
    client.connection.close()
    return Row(mode, name, taken / sent, hits / sent)


def _control(near: Near, order: str) -> None:
    done = subprocess.run(["callgrind_control", order, str(near.pid)], capture_output=True, text=True)
    if done.returncode:
        raise NotCounted(f"callgrind_control {order} failed: {done.stdout}{done.stderr}")


def _total(folder: Path, name: str) -> int:
    """Returns the number of instructions in the profile that was written under this name."""
    written = (path.read_text() for path in folder.glob("callgrind.*"))
    found = [text for text in written if f"desc: Trigger: dump {name}\n" in text]
    total = re.search(r"^totals: (\d+)$", found[-1], re.MULTILINE) if found else None
    if not total:
        raise NotCounted(f"callgrind wrote no profile of {name!r}")
    return int(total[1])


def render(rows: list[Row]) -> str:
    header = ["Sent", "Mode", "Instructions of fqc-near", "hits"]
    by_script = [row for name in SCRIPTS for row in rows if row.script == name]
    return table(header, [[row.script, row.mode, f"{row.instructions:,.0f}", figure(row.hits)] for row in by_script])
