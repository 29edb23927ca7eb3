"""Counts instructions, kernel calls and locks that a server uses for a script. They are counted, not timed.

Each counter runs between its start and its end, while nothing but the script's clients asks the server anything.
"""

from __future__ import annotations

import re
import signal
import struct
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driver.product import Product
from driver.server import Server

SOURCE = Path(__file__).resolve().parents[1] / "counting" / "taken.c"
LIMIT_SECONDS = 120
# The server's function that does all work for a statement of a connection, and nothing else. Only its instructions
# count.
SERVED = "do_command(*"


class NotCounted(RuntimeError):
    """A counting tool failed, or the server did not get ready for it; the message says which."""


def callgrind(folder: Path, product: Product) -> list[str]:
    """Returns the command that a server is started with so that its instructions are counted. `folder` gets the
    profiles."""
    between = [f"--toggle-collect={SERVED}", f"--zero-before={product.begins}", f"--dump-before={product.ends}"]
    tool = ["valgrind", "--tool=callgrind", "--quiet", "--vgdb=no"]
    # The server may be started by a command.
    tool += ["--trace-children=yes", "--trace-children-skip=*/dirname,*/realpath"]
    return [*tool, f"--callgrind-out-file={folder / 'callgrind'}", *between]


@dataclass(frozen=True)
class Instructions:
    # The number of instructions for each object file.
    by_object: Counter[str]
    # The number of calls for each pair of a calling file and a function.
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return sum(self.by_object.values())

    def less(self, other: Instructions) -> Instructions:
        def difference(ours: Counter[Any], theirs: Counter[Any]) -> Counter[Any]:
            return Counter({key: count - theirs[key] for key, count in ours.items()})

        return Instructions(difference(self.by_object, other.by_object), difference(self.calls, other.calls))


class CountedInstructions:
    """Counts the instructions of a server that runs under callgrind, from `start` to `end`, without those of
    counting itself."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._connection = server.connect()
        self.start()
        self._own = self._counted()

    def start(self) -> None:
        self._connection.query(self._server.product.begin)

    def end(self) -> Instructions:
        return self._counted().less(self._own)

    def _counted(self) -> Instructions:
        before = self._profiles()
        self._connection.query(self._server.product.end)
        written = self._profiles() - before
        if len(written) != 1:
            raise NotCounted(f"callgrind wrote {len(written)} files where one was expected")
        return read_profile(next(iter(written)).read_text())

    def _profiles(self) -> set[Path]:
        return set(self._server.folder.glob("callgrind.*"))


def read_profile(text: str) -> Instructions:
    """Adds up a profile that callgrind has written, by object file. A name is written out at its first use, and then
    given by its number."""
    names: dict[str, str] = {}
    found = Instructions(Counter())
    current, called, is_call = "", "", False
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key in ("ob", "cob", "fn", "cfn"):
            number, _, name = value.partition(" ")
            number = key[-2:] + number
            if name:
                names[number] = name
            if key == "ob":
                current = Path(names[number]).name
            elif key == "cfn":
                called = names[number].partition("(")[0]
        elif key == "calls":
            found.calls[current, called] += int(value.split()[0])
            is_call = True
        elif re.match(r"[0-9+*-]", line):
            # The line after `calls=` contains the cost of the called function, which is counted there.
            if not is_call:
                found.by_object[current] += int(line.split()[1])
            is_call = False
    return found


class CountedCalls:
    """Counts the kernel calls of one thread of a server, from its construction to `end`."""

    def __init__(self, thread: int, folder: Path) -> None:
        self._said = folder / "strace"
        command = ["strace", "-qq", "-c", "-U", "calls,name", "-o", str(self._said), "-p", str(thread)]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        status = Path(f"/proc/{thread}/status")
        await_that(lambda: "TracerPid:\t0\n" not in status.read_text(), "strace does not watch the server")

    def end(self) -> Counter[str]:
        self._process.send_signal(signal.SIGINT)
        self._process.communicate()
        lines = (line.split() for line in self._said.read_text().splitlines())
        return Counter({line[1]: int(line[0]) for line in lines if len(line) == 2 and line[0].isdigit()})


def page_faults(thread: int) -> int:
    """Returns the number of page faults of this thread so far."""
    fields = Path(f"/proc/{thread}/task/{thread}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[7]) + int(fields[9])


class CountedLocks:
    """Counts the C library's locks that a server's threads take. The server must be started with `environment`."""

    # The sizes in the source of the counting library, `counting/taken.c`.
    BLOCKS, BLOCK_BYTES, HEAD_BYTES = 512, 16 + 2048 * 16, 16

    def __init__(self, folder: Path) -> None:
        self._counts, library = folder / "taken", folder / "taken.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
        with self._counts.open("wb") as counts:
            counts.truncate(self.BLOCKS * self.BLOCK_BYTES)
        self.environment = {"LD_PRELOAD": str(library), "LOCKS_TAKEN": str(self._counts)}

    def of(self, threads: Iterable[int]) -> list[Counter[int]]:
        """Returns how often each of these threads has taken each lock until now, by the lock's address."""
        counts = self._counts.read_bytes()
        blocks = (counts[at : at + self.BLOCK_BYTES] for at in range(0, len(counts), self.BLOCK_BYTES))
        found = {struct.unpack_from("<Q", block)[0]: block for block in blocks}
        return [_pairs(found[thread][self.HEAD_BYTES :]) for thread in threads]


def _pairs(block: bytes) -> Counter[int]:
    return Counter({address: count for address, count in struct.iter_unpack("<QQ", block) if count})


class Symbols:
    """Finds the variables of a running server's program by their addresses and names. `image` is the path of its
    file."""

    def __init__(self, pid: int, image: str) -> None:
        self._pid = pid
        maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
        base = next(int(line.split("-")[0], 16) for line in maps if line.endswith(image))
        command = ["nm", "-D", "-S", "-C", "--defined-only", image]
        listed = subprocess.run(command, check=True, capture_output=True, text=True)
        fields = (line.split(maxsplit=3) for line in listed.stdout.splitlines())
        self._symbols = {
            base + int(one[0], 16): (int(one[1], 16), one[3]) for one in fields if len(one) == 4 and one[2] in "BDbd"
        }

    def name(self, address: int) -> str | None:
        """Returns the name of the variable that contains this address. None if it is in no variable, as on the heap."""
        starts = (start for start, (size, _) in self._symbols.items() if start <= address < start + size)
        return next((self._symbols[start][1] for start in starts), None)

    def word(self, name: str) -> int:
        start = next(start for start, (_, found) in self._symbols.items() if found == name)
        with Path(f"/proc/{self._pid}/mem").open("rb") as memory:
            memory.seek(start)
            return int(struct.unpack("<Q", memory.read(8))[0])


def await_that(is_so: Callable[[], bool], complaint: str) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise NotCounted(complaint)
        time.sleep(0.05)
