"""The cost of a statement in instructions, kernel calls and shared locks, with and without the plugin.

Counts do not depend on how busy the machine is, so they can be compared where times cannot. Instructions are those
outside the kernel, counted under callgrind while the server works for a session; kernel calls and locks are counted on
a server that runs by itself.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from driver import configuration, script
from driver.certificates import make_certificates
from driver.counters import (
    CountedCalls,
    CountedInstructions,
    CountedLocks,
    Instructions,
    Symbols,
    await_that,
    callgrind,
    page_faults,
)
from driver.product import MARIADB, Product
from driver.script import Client, Script
from driver.server import SCHEMA, USER, Server
from driver.tables import NOTHING, figure, table

TOOLS = ("valgrind", "strace", "cc", "nm")
# Arguments for all servers. Callgrind has room for less address space than the server would set aside, and knows no
# io_uring.
ARGUMENTS = ("--loose-innodb-buffer-pool-size-max=1G", "--innodb-use-native-aio=0")
CACHE_MB = 64
ALLOCATES = ("malloc", "calloc", "realloc", "posix_memalign")
WARM_STATEMENTS = 300
ADAPTING_STATEMENTS = 2000
LARGE_STATEMENTS = 30


@dataclass(frozen=True)
class State:
    name: str
    configuration: str
    # Statements that an administrator runs to bring the plugin into this state.
    settings: tuple[str, ...] = ()
    is_cached: bool = False
    learns: bool = False
    dozes: bool = False


ON = ("SET GLOBAL query_cache_type = 1",)
STATES = (
    State("OFF", "OFF"),
    State("LOADED", "LOADED"),
    State(
        "dozing",
        "LOADED",
        ("SET GLOBAL fqc_adaptation = ON", "SET GLOBAL fqc_doze = ON", *ON),
        is_cached=True,
        dozes=True,
    ),
    State("awake, stores nothing", "LOADED", ("SET GLOBAL fqc_adaptation = ON", *ON), is_cached=True, learns=True),
    State("awake, stores all", "LOADED", ("SET GLOBAL fqc_adaptation = OFF", *ON), is_cached=True),
)
SCRIPTS: dict[str, tuple[Script, int]] = {
    "read": (script.read, 300),
    "hit": (script.hit, 300),
    "execute": (script.execute, 300),
    "transaction of a read": (script.transaction, 100),
    "table 3": (script.mix, 40),
    "large result": (script.large, 20),
    "write": (script.write, 300),
}


@dataclass
class Row:
    state: str
    script: str
    statements: int = 0
    instructions: Instructions | None = None
    calls: Counter[str] = field(default_factory=Counter)
    call_statements: int = 0
    locks: Counter[str] = field(default_factory=Counter)
    lock_statements: int = 0
    faults: int = 0
    hits: int = 0
    stored: int = 0


def measure(product: Product, scripts: list[str], say: Callable[[str], None]) -> str:
    folder = Path(tempfile.mkdtemp(prefix="fqc-counts-"))
    states = [state for state in STATES if product is MARIADB or not state.dozes]
    rows = {(state.name, name): Row(state.name, name) for state in states for name in scripts}
    try:
        first = load(folder, product)
        for kind in ("OFF", "LOADED"):
            say(f"{kind}: instructions")
            server = first.copy(folder / f"{kind}-callgrind")
            with _served(kind, server, callgrind(server.folder, product), _dozes_by(server)):
                _in_states(kind, server, scripts, rows, _instructions(server), say)
            say(f"{kind}: kernel calls and locks")
            locks = CountedLocks(folder)
            server = first.copy(folder / f"{kind}-alone")
            with _served(kind, server, (), {**locks.environment, **_dozes_by(server)}):
                _in_states(kind, server, scripts, rows, _calls_and_locks(server, folder, locks), say)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return render(list(rows.values()))


def load(folder: Path, product: Product) -> Server:
    """Creates a server with the table that the scripts use. It is not running; start copies of it."""
    make_certificates(folder / "certificates")
    server = Server(folder / "loaded", folder / "certificates", product)
    server.install()
    server.start(ARGUMENTS)
    try:
        server.rows(f"CREATE DATABASE {SCHEMA}")
        server.rows(f"CREATE USER {USER}@127.0.0.1")
        server.rows(f"GRANT ALL ON *.* TO {USER}@127.0.0.1")
        columns = "id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL, KEY (k)"
        server.rows(f"CREATE TABLE {SCHEMA}.digits (d INT) SELECT {' AS d UNION SELECT '.join('0123456789')} AS d")
        places = [f"d{place}" for place in range(len(str(script.ROWS)) - 1)]
        number = "1 + " + " + ".join(f"{10**at} * {place}.d" for at, place in enumerate(places))
        values = f"{number} AS id, {number} AS k, RPAD(SHA2({number}, 256), 120, '-') AS c, RPAD('', 60, '.') AS pad"
        tables = ", ".join(f"{SCHEMA}.digits AS {place}" for place in places)
        server.rows(f"CREATE TABLE {SCHEMA}.sbtest1 ({columns}) SELECT {values} FROM {tables} ORDER BY 1")
    finally:
        server.stop()
    return server


@contextmanager
def _served(kind: str, server: Server, under: Sequence[str], environment: Mapping[str, str]) -> Iterator[None]:
    try:
        configuration.start(kind, server, ARGUMENTS, under, environment)
        # Read all rows once, so that statements are not charged for reading files.
        server.rows(f"SELECT COUNT(*), SUM(LENGTH(pad)) FROM {SCHEMA}.sbtest1")
        yield
    finally:
        server.stop()


Measure = Callable[[Row, Script, int, list[Client]], None]


def _in_states(
    kind: str,
    server: Server,
    scripts: list[str],
    rows: dict[tuple[str, str], Row],
    measure_row: Measure,
    say: Callable[[str], None],
) -> None:
    for state in (state for state in STATES if state.configuration == kind):
        for name in (name for name in scripts if (state.name, name) in rows):
            one, times = SCRIPTS[name]
            _bring_about(state, server)
            clients = [Client(server), Client(server)]
            if state.dozes:
                _doze(server, clients)
            _warm(state, one, clients)
            before = Counter(server.status("Qcache%"))
            row = rows[state.name, name]
            measure_row(row, one, times, clients)
            after = Counter(server.status("Qcache%"))
            row.hits += after["Qcache_hits"] - before["Qcache_hits"]
            row.stored += after["Qcache_inserts"] - before["Qcache_inserts"]
            say(f"  {state.name}, {name}")
            for client in clients:
                client.connection.close()


def _sign(server: Server) -> Path:
    return server.folder / "dozes"


def _dozes_by(server: Server) -> dict[str, str]:
    """Returns an environment variable for the server, with which the engine is in light mode while a certain file
    exists."""
    return {"FQC_FAULT": f"doze:{_sign(server)}"}


def _doze(server: Server, clients: list[Client]) -> None:
    """Lets the engine enter light mode. The sessions begin before that, as on a server at work."""
    for client in clients:
        script.read(client)
    _sign(server).touch()
    _await_silence(server, "dozing")


def _await_silence(server: Server, state: str) -> None:
    complaint = f"the server still reports statements to the plugin, which should be {state}"
    symbols = Symbols(server.pid, server.product.image)
    await_that(lambda: symbols.word("mysql_global_audit_mask") == server.product.silent, complaint)


def _bring_about(state: State, server: Server) -> None:
    if state.configuration == "OFF":
        return
    _sign(server).unlink(missing_ok=True)
    server.rows("SET GLOBAL query_cache_type = 0")
    server.rows("SET GLOBAL query_cache_size = 0")
    if not state.is_cached:
        _await_silence(server, "asleep")
        return
    server.rows(f"SET GLOBAL query_cache_size = {CACHE_MB * configuration.MEGABYTE}")
    for setting in state.settings:
        server.rows(setting)
    # The engine serves once every statement that ran before has ended.
    client = Client(server)

    def is_served() -> bool:
        hits = server.status("Qcache_hits")
        script.hit(client)
        return server.status("Qcache_hits") != hits

    await_that(is_served, "the cache serves nothing after it was switched on")
    client.connection.close()


def _warm(state: State, one: Script, clients: list[Client]) -> None:
    script.warm_hot_rows(clients[0])
    script.warm_hot_rows(clients[0])
    wanted = ADAPTING_STATEMENTS if state.learns else WARM_STATEMENTS
    for client in clients:
        done = 0
        while done < (LARGE_STATEMENTS if one is script.large else wanted):
            done += one(client)


def _instructions(server: Server) -> Measure:
    counted = CountedInstructions(server)

    def measure_row(row: Row, one: Script, times: int, clients: list[Client]) -> None:
        # Callgrind only counts calls that it saw begin. A ping first lets the server return from its read.
        clients[0].connection.ping()
        one(clients[0])
        counted.start()
        row.statements = sum(one(clients[0]) for _ in range(times))
        row.instructions = counted.end()

    return measure_row


def _calls_and_locks(server: Server, folder: Path, locks: CountedLocks) -> Measure:
    symbols = Symbols(server.pid, server.product.image)

    def measure_row(row: Row, one: Script, times: int, clients: list[Client]) -> None:
        threads = [client.thread() for client in clients]
        for client in clients:
            one(client)
        before, faults = locks.of(threads), sum(map(page_faults, threads))
        row.lock_statements = sum(one(client) for client in clients for _ in range(times))
        row.faults = sum(map(page_faults, threads)) - faults
        taken = [after - old for after, old in zip(locks.of(threads), before, strict=True)]
        for address in set.intersection(*map(set, taken)):
            row.locks[symbols.name(address) or "on the heap"] += sum(each[address] for each in taken)
        watched = CountedCalls(threads[0], folder)
        row.call_statements = sum(one(clients[0]) for _ in range(times))
        row.calls = watched.end()

    return measure_row


def render(rows: list[Row]) -> str:
    off = {row.script: row for row in rows if row.state == "OFF"}
    header = [
        "Script",
        "State",
        "Instructions",
        "against OFF",
        "in the plugin",
        "events",
        "allocations of the plugin",
        "Kernel calls",
        "futex",
        "Shared locks",
        "page faults",
        "hits",
        "stored",
    ]
    lines = [_line(row, off[row.script]) for name in off for row in rows if row.script == name]
    shared = [
        f"- {row.script}, {row.state}: "
        + ", ".join(f"{name} {figure(count / row.lock_statements)}" for name, count in row.locks.most_common())
        for row in rows
        if row.locks and row.lock_statements
    ]
    return table(header, lines) + "\nShared locks by name, for each statement:\n\n" + "\n".join(shared) + "\n"


def _line(row: Row, off: Row) -> list[str]:
    own, base = row.instructions, off.instructions
    each = own.total / row.statements if own else 0
    change = NOTHING
    if own and base and row is not off:
        change = f"{(each / (base.total / off.statements) - 1) * 100:+.2f} %"
    asked = row.statements + row.lock_statements + row.call_statements
    return [
        row.script,
        row.state,
        f"{each:,.0f}" if own else NOTHING,
        change,
        f"{own.by_object['fqc.so'] / row.statements:,.0f}" if own else NOTHING,
        figure(_reported(own) / row.statements) if own and _reported(own) else NOTHING,
        figure(_allocated(own) / row.statements) if own else NOTHING,
        figure(sum(row.calls.values()) / row.call_statements) if row.call_statements else NOTHING,
        figure(row.calls["futex"] / row.call_statements) if row.call_statements else NOTHING,
        figure(sum(row.locks.values()) / row.lock_statements) if row.lock_statements else NOTHING,
        figure(row.faults / row.lock_statements) if row.lock_statements else NOTHING,
        figure(row.hits / asked) if asked else NOTHING,
        figure(row.stored / asked) if asked else NOTHING,
    ]


def _reported(counted: Instructions) -> int:
    return sum(count for (_, called), count in counted.calls.items() if called == "mysql_audit_notify")


def _allocated(counted: Instructions) -> int:
    return sum(count for (caller, called), count in counted.calls.items() if caller == "fqc.so" and called in ALLOCATES)
