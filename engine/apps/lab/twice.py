"""A proxy before a server or near cache that sends each read twice, and passes on the second response.

If the first result was stored, the second one comes from the cache. The proxy stands there in every mode. It needs a
client without TLS and compression that waits for each response before it sends the next command.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

HOST = "127.0.0.1"
QUERY, PREPARE, EXECUTE, LONG_DATA = 0x03, 0x16, 0x17, 0x18
OK, NULL, EOF, ERROR = 0x00, 0xFB, 0xFE, 0xFF
DEPRECATE_EOF = 1 << 24
MOST_IN_A_PACKET, MOST_IN_AN_EOF = 0xFFFFFF, 8
READ = re.compile(rb"(\s|\(|/\*(?!!).*?\*/)*(SELECT|WITH)\b", re.IGNORECASE | re.DOTALL)
# Words of reads that have an effect, or another result when they are repeated. Such reads are sent once.
EFFECT = re.compile(rb";|:=|_LOCK\b|\b(INTO|UPDATE|SHARE|NEXT|NEXTVAL|ROW_COUNT|SLEEP)\b", re.IGNORECASE)


class Closed(Exception):
    """Client or server has closed the connection."""


class Twice:
    """Listens on the loopback port `port` in front of the port `server`, until it is stopped."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        """Accepts no more connections. Existing ones end with the server behind them."""
        # Closing alone does not wake the thread that accepts.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        with client, suppress(OSError), socket.create_connection((HOST, self._server)) as server:
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _Connection(client, server).relay()


class _Connection:
    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self._client, self._server = client, server
        self._has_eof = True
        # The text of the statement that is being prepared; empty if none is.
        self._preparing = b""
        # The ids of prepared reads.
        self._reads: set[bytes] = set()
        # The packets of a read whose first response has not ended. Commands wait until there are none.
        self._pending = b""
        self._changed = threading.Condition()

    def relay(self) -> None:
        """Passes everything on in both directions until either end closes its connection."""
        commands = threading.Thread(target=self._until_closed, args=(self._relay_commands,), daemon=True)
        commands.start()
        self._until_closed(self._relay_responses)
        self._set_pending(b"")
        commands.join()

    def _until_closed(self, work: Callable[[], None]) -> None:
        with suppress(Closed, OSError):
            work()
        for end in (self._client, self._server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _relay_commands(self) -> None:
        packets = self._client.makefile("rb")
        login, _ = _message(packets)
        self._has_eof = not int.from_bytes(login[4:8], "little") & DEPRECATE_EOF
        self._server.sendall(login)
        while True:
            whole, payload = _message(packets)
            with self._changed:
                self._changed.wait_for(lambda: not self._pending)
            # Only the first packet of a command has the number 0; others are parts of a login or of a file.
            if whole[3] == 0 and self._is_sent_twice(payload):
                self._set_pending(whole)
            self._server.sendall(whole)

    def _is_sent_twice(self, command: bytes) -> bool:
        """Returns whether the command is a read that is sent twice. Also notes what the command says of prepared
        statements."""
        kind, rest = command[0], command[1:]
        if kind == PREPARE:
            self._preparing = rest
        elif kind == LONG_DATA:
            # The server forgets these data when it has executed the statement once.
            self._reads.discard(rest[:4])
        # A statement that is executed with flags gets a cursor instead of a result.
        return (kind == QUERY and _is_read(rest)) or (kind == EXECUTE and rest[:4] in self._reads and rest[4] == 0)

    def _relay_responses(self) -> None:
        packets = self._server.makefile("rb")
        while True:
            whole, payload = _message(packets)
            if self._pending:
                self._skip(packets, payload)
                self._server.sendall(self._pending)
                self._set_pending(b"")
                continue
            if self._preparing:
                if payload[0] == OK and _is_read(self._preparing):
                    self._reads.add(payload[1:5])
                self._preparing = b""
            self._client.sendall(whole)

    def _set_pending(self, packets: bytes) -> None:
        with self._changed:
            self._pending = packets
            self._changed.notify()

    def _skip(self, packets: BinaryIO, payload: bytes) -> None:
        """Reads and drops the rest of the response that begins with this payload."""
        if payload[0] in (OK, ERROR):
            return
        columns = payload[0] if payload[0] < NULL else int.from_bytes(payload[1:3], "little")
        for _ in range(columns + self._has_eof):
            _message(packets)
        row = b"\0"
        while not self._is_end(row):
            _, row = _message(packets)

    def _is_end(self, row: bytes) -> bool:
        longest = MOST_IN_AN_EOF if self._has_eof else MOST_IN_A_PACKET - 1
        return row[0] == ERROR or (row[0] == EOF and len(row) <= longest)


def _is_read(statement: bytes) -> bool:
    return bool(READ.match(statement)) and not EFFECT.search(statement)


def _message(packets: BinaryIO) -> tuple[bytes, bytes]:
    """Waits for a whole message. Returns its packets as they came, and its payload. Raises Closed at the end of the
    connection."""
    whole, payload = b"", b""
    while True:
        header = packets.read(4)
        length = int.from_bytes(header[:3], "little")
        part = packets.read(length)
        if len(header) < 4 or len(part) < length:
            raise Closed
        whole, payload = whole + header + part, payload + part
        if length < MOST_IN_A_PACKET:
            return whole, payload
