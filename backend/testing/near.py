"""Near caches for tests: a client of the feed protocol (docs/reference/near-protocol.md) without a cache, and the
report that a near cache posts to the control plane."""

from __future__ import annotations

import struct
import threading
import time
from types import TracebackType

import pymysql

from testing.servers import TestServer
from testing.workers import until

RENEW_SECONDS = 0.02
# Kinds of messages of the feed protocol.
GRANTED, RENEW, ACKNOWLEDGE, COUNTED, LEFT = 2, 65, 66, 69, 70
# The body of a near cache's report to the control plane's API.
REPORT = {
    "name": "shop-1", "life": 4711, "version": "0.1.0", "server": "db.internal:3306", "mode": "bounded", "obstacle": "",
    "staleness_ms": 3.5, "entries": 7, "stored_bytes": 4096, "hits": 30, "misses": 10,
    "observed_hits": None, "observed_different": None, "observed_saved_ms": None, "is_leaving": False,
}  # fmt: skip
HEADER = struct.Struct("<BI")  # of a message: its kind, and the length of the rest


class FakeNearCache:
    """A context manager that attaches to a server's engine as a near cache of this name, with an account that may only
    do that.

    A thread renews its lease and acknowledges what the engine sends. `counts`: the four counts that it reports to the
    engine.
    """

    def __init__(self, server: TestServer, name: str, counts: tuple[int, int, int, int] = (0, 0, 0, 0)) -> None:
        self.server, self.name, self.counts = server, name, counts
        self.is_granted = False
        self._stop = threading.Event()

    def __enter__(self) -> FakeNearCache:
        self._account_ensure()
        self._connection = pymysql.connect(host="127.0.0.1", port=self.server.port, user="near", password="near")
        self._connection.query(f"ATTACH FQC NEAR '{self.name}' PROTOCOL 1")
        self._socket = self._connection._sock
        self._socket.settimeout(RENEW_SECONDS)
        self._thread = threading.Thread(target=self._talk)
        self._thread.start()
        until(lambda: self.is_granted, "a lease")
        return self

    def _account_ensure(self) -> None:
        """Makes the account once.

        CREATE USER and GRANT invalidate everything, and attached near caches must then answer within 100 ms.
        """
        owner = self.server.connect()
        if not owner.rows("SELECT 1 FROM mysql.user WHERE user = 'near'"):
            owner.run("CREATE USER 'near'@'127.0.0.1' IDENTIFIED BY 'near'")
            owner.run("GRANT REPLICATION MASTER ADMIN ON *.* TO 'near'@'127.0.0.1'")
        owner.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.leave()

    def leave(self) -> None:
        if not self._stop.is_set():
            self._say(HEADER.pack(LEFT, 0))
            self.drop()

    def drop(self) -> None:
        """Closes the connection without notice, as a killed near cache does."""
        self._stop.set()
        self._thread.join()
        self._connection._force_close()

    def _say(self, messages: bytes) -> None:
        self._socket.sendall(len(messages).to_bytes(3, "little") + b"\0" + messages)

    def _talk(self) -> None:
        unread, renewed = b"", 0.0
        for counts in ((0, 0, 0, 0), self.counts):  # the counts at its start, and the present ones
            self._say(_message(COUNTED, struct.pack("<4Q", *counts)))
        while not self._stop.is_set():
            if time.monotonic() - renewed > RENEW_SECONDS:
                renewed = time.monotonic()
                self._say(_message(RENEW, struct.pack("<Q", time.monotonic_ns())))
            try:
                arrived = self._socket.recv(65536)
            except TimeoutError:
                continue
            if not arrived:
                break
            unread = self._hear(unread + arrived)

    def _hear(self, data: bytes) -> bytes:
        """Handles all complete packets in `data`. Returns the rest."""
        while len(data) >= 4 and len(data) >= (end := 4 + int.from_bytes(data[:3], "little")):
            payload, data = data[4:end], data[end:]
            number, at = struct.unpack_from("<Q", payload)[0], 8
            while at < len(payload):
                kind, length = HEADER.unpack_from(payload, at)
                at += HEADER.size + length
                self.is_granted |= kind == GRANTED
            assert at == len(payload), "a message does not end where its frame does"
            self._say(_message(ACKNOWLEDGE, struct.pack("<Q", number)))
        return data


def _message(kind: int, rest: bytes) -> bytes:
    return HEADER.pack(kind, len(rest)) + rest
