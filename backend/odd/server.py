"""A listener that speaks MySQL's protocol and answers at random, from a seed.

Most of its answers have a server's form, so that the client continues, but odd values. Others have random columns,
types, lengths and encodings, or are errors, cut short, late, or not MySQL's protocol at all.
"""

from __future__ import annotations

import itertools
import re
import socket
import threading
import time
from contextlib import suppress
from random import Random

from controlplane.gateway import reports
from controlplane.gateway.tests.hostile import OK, Talk, greeting

Value = bytes | None
LEAST_ODD: list[Value] = [b"", b"0", b"1", b"42", b"ON", b"OFF", b"4294967296", b"10.11.11-MariaDB", None]
ODD: list[Value] = [
    *LEAST_ODD, b"-1", b"-0", b"1e308", b"1e9999", b"nan", b"inf", b"-inf", b"0x10", b"1_000", b" 7", b"7.5",
    str(2**63 - 1).encode(), str(2**63).encode(), str(2**64 - 1).encode(), str(10**25).encode(), str(10**400).encode(),
    b"9" * 5000, "\N{SUPERSCRIPT TWO}".encode(), "\N{ARABIC-INDIC DIGIT THREE}".encode(), b"\x00", b"a\x00b",
    b"\xff\xfe\xfd", b"\xed\xa0\x80", b"x" * 300, b"y" * 70_000, "\N{SEAL}".encode() * 300, b"%s%n{0}", b"'; --",
    b"2026-13-45 99:99:99", b"\x1b[2J", b"0" * 21,
]  # fmt: skip
TYPES = [*range(17), *range(245, 256)]
CHARSETS = [8, 33, 45, 63, 255, 65535]
NEAR = [reports.NEAR_NAME, reports.NEAR_ADDRESS, *reports.NEAR_NUMBERS.values(), *reports.NEAR_MILLISECONDS.values()]
REPORTS = {"NEAR": NEAR, "QUERIES": [reports.DIGEST, reports.QUERY, *reports.QUERY_COUNTERS, reports.REASONS_TOLD]}
QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")
AGREED = (b"SET NAMES", b"SET AUTOCOMMIT", b"SET SESSION query_cache_type")
READ_ONLY = b"\xff\xd6\x04#HY000Variable 'datadir' is a read only variable"


class OddServer:
    def __init__(self, seed: int, slowest_seconds: float) -> None:
        self._seed, self._slowest_seconds = seed, slowest_seconds
        self._open: set[socket.socket] = set()
        self._lock, self._is_over = threading.Lock(), threading.Event()
        self.answered = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def close(self) -> None:
        self._is_over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        self._listener.close()
        with self._lock:
            for sock in self._open:
                with suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        for number in itertools.count():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(sock, Random(f"{self._seed} {number}")), daemon=True).start()

    def _talk(self, sock: socket.socket, random: Random) -> None:
        with self._lock:
            self._open.add(sock)
        with suppress(OSError):  # the client closed the connection
            _Conversation(self, Talk(sock), random).go_on()
        with self._lock:
            self._open.discard(sock)
        sock.close()

    def count(self) -> None:
        with self._lock:
            self.answered += 1

    def wait(self, random: Random) -> None:
        self._is_over.wait(random.uniform(0, self._slowest_seconds))


class _Conversation:
    def __init__(self, server: OddServer, talk: Talk, random: Random) -> None:
        self._server, self._talk, self._random = server, talk, random
        # Some connections are odd in everything, some hardly ever.
        self._oddness = random.choice([0.0, 0.02, 0.3])

    def go_on(self) -> None:
        if self._random.random() < 0.05:
            self._nonsense(greeting())
            return
        self._talk.say(greeting())
        self._talk.hear()
        self._talk.say(OK)
        while self._answer(self._talk.hear()[1:]):
            self._talk.heard.clear()

    def _answer(self, asked: bytes) -> bool:
        """Answers a statement, often as no healthy server would. False if the connection has to be closed."""
        if asked.startswith(AGREED) and self._random.random() < 0.98:
            self._talk.say(OK)
            return True
        self._server.count()
        kinds = {self._usual: 60, self._misshapen: 12, self._error: 8, self._broken: 12, self._late: 6, self._end: 2}
        kind = self._random.choices([*kinds], [*kinds.values()])[0]
        return kind(asked.decode(errors="replace"))

    def _usual(self, asked: str) -> bool:
        for body in self._bodies(asked):
            self._talk.say(body)
        return True

    def _late(self, asked: str) -> bool:
        self._server.wait(self._random)
        return self._usual(asked)

    def _end(self, asked: str) -> bool:
        return False

    def _error(self, asked: str) -> bool:
        number = self._random.choice([1045, 1064, 1193, 1227, 1238, 1317, 1969, 3024, 0, 65535]).to_bytes(2, "little")
        self._talk.say(b"\xff" + number + self._random.choice([b"#42000", b""]) + (self._odd() or b""))
        return True

    def _misshapen(self, asked: str) -> bool:
        """Sends a result set of any shape."""
        names = [(self._odd() or b"")[:200] for _ in range(self._random.choice([0, 1, 1, 2, 2, 3, 40]))]
        rows = [[self._odd() for _ in names] for _ in range(self._random.choice([0, 1, 2, 50]))]
        for body in self._result(names, rows, self._random.choice(TYPES)):
            self._talk.say(body)
        return True

    def _broken(self, asked: str) -> bool:
        data = bytearray(b"".join(self._talk.packet(body) for body in self._bodies(asked)))
        for _ in range(self._random.choice([0, 1, 3, 20])):
            data[self._random.randrange(len(data))] = self._random.randrange(256)
        cut = self._random.choice([len(data), self._random.randrange(len(data)), 3])
        self._talk.sock.sendall(data[:cut])
        self._server.wait(self._random)  # the client may expect more
        return False

    def _nonsense(self, instead_of: bytes) -> None:
        said = [b"HTTP/1.1 400 Bad Request\r\n\r\n", self._random.randbytes(200), b"\x00" * 64, instead_of[:20], b""]
        self._talk.sock.sendall(self._random.choice(said))
        self._server.wait(self._random)

    # These answers have the form that a server would give them, with other values.

    def _bodies(self, asked: str) -> list[bytes]:
        if asked.startswith("SET "):
            return [READ_ONLY]
        if asked.startswith(("SHOW GLOBAL", "SELECT 'clock'")):
            names = QUOTED.findall(asked)[:200] or ["version", "Uptime"]
            rows = [[name.encode(), self._value(name)] for name in names if self._random.random() > self._oddness / 3]
            return self._result([b"Variable_name", b"Value"], rows)
        if asked.startswith("SHOW FQC"):
            columns = REPORTS.get(asked.rpartition(" ")[2], ["Item", "Value"])
            rows = [[self._value(name) for name in columns] for _ in range(self._random.choice([0, 1, 2, 300]))]
            return self._result([name.encode() for name in columns], rows)
        if asked.startswith("SHOW GRANTS"):
            return self._result([b"Grants"], [[b"GRANT PROCESS ON *.* TO `fqc`@`%`"], [self._odd()]])
        width = self._random.choice([1, 1, 1, 4, 11])
        return self._result([b"n"] * width, [[self._value("n") for _ in range(width)]])

    def _value(self, name: str) -> Value:
        if self._random.random() < self._oddness:
            return self._odd()
        usual: dict[str, Value] = {
            "version": b"10.11.11-MariaDB", "fqc_minor_version": b"20261120", "Fqc_near_caches": b"1",
            "Name": b"near-1", "clock": str(int(time.time())).encode(), "Uptime": b"1000",
            "Digest": b"0" * 31 + b"7", "n": b"1",
        }  # fmt: skip
        return usual.get(name, str(int(time.monotonic() * 1000)).encode())

    def _odd(self) -> Value:
        return self._random.choice(ODD)

    def _result(self, names: list[bytes], rows: list[list[Value]], kind: int = 253) -> list[bytes]:
        end = b"\xfe\x00\x00\x02\x00"
        columns = [_column(name, kind, self._random.choice(CHARSETS[:3])) for name in names]
        return [_length(len(names)), *columns, end, *(b"".join(map(_cell, row)) for row in rows), end]


def _column(name: bytes, kind: int, charset: int) -> bytes:
    facts = b"\x0c" + charset.to_bytes(2, "little") + b"\xff\x00\x00\x00" + bytes([kind]) + b"\x00\x00\x00\x00\x00"
    return b"\x03def\x00\x00\x00" + _cell(name) + b"\x00" + facts


def _cell(value: Value) -> bytes:
    return b"\xfb" if value is None else _length(len(value)) + value


def _length(number: int) -> bytes:
    if number < 251:
        return bytes([number])
    if number < 2**16:
        return b"\xfc" + number.to_bytes(2, "little")
    return b"\xfd" + number.to_bytes(3, "little")
