"""A listener that speaks MySQL's handshake, asks for the password in unusual ways, and sends endless answers."""

from __future__ import annotations

import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

PASSWORD = "the-stored-password"
CHALLENGE = b"an everlasting twenty"[:20]
PROMPT = b"\x02Password: "  # the prompt of PAM authentication
OK = b"\x00\x00\x00\x02\x00\x00\x00"
END = b"\xfe\x00\x00\x02\x00"
TEXT = b"\xfd"
# Capability flags: 4.1 protocol, secure connection, named plugins, plugin data with its length.
WITHOUT_TLS = 0x00000200 | 0x00008000 | 0x00080000 | 0x00200000
WITH_TLS = WITHOUT_TLS | 0x00000800


def greeting(plugin: str = "mysql_native_password", capabilities: int = WITHOUT_TLS) -> bytes:
    low, high = (capabilities & 0xFFFF).to_bytes(2, "little"), (capabilities >> 16).to_bytes(2, "little")
    first, rest = CHALLENGE[:8], CHALLENGE[8:]
    facts = first + b"\x00" + low + b"\x2d" + b"\x02\x00" + high + bytes([21]) + bytes(10) + rest + b"\x00"
    return b"\x0a10.11.9-hostile\x00" + (7).to_bytes(4, "little") + facts + plugin.encode() + b"\x00"


@dataclass
class Talk:
    """One connection of a client to the hostile listener. `say` sends a packet of MySQL's protocol, `hear` returns the
    client's next one, and `heard` has all bytes that the client has sent.
    """

    sock: socket.socket
    heard: list[bytes] = field(default_factory=list)
    sequence: int = 0

    def say(self, body: bytes) -> None:
        self.sock.sendall(self.packet(body))

    def packet(self, body: bytes) -> bytes:
        made = len(body).to_bytes(3, "little") + bytes([self.sequence % 256]) + body
        self.sequence += 1
        return made

    def hear(self) -> bytes:
        header = self._exactly(4)
        body = self._exactly(int.from_bytes(header[:3], "little"))
        self.sequence = header[3] + 1
        self.heard.append(body)
        return body

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.sock.recv(count - len(data))
            if not piece:
                raise ConnectionError("the client hung up")
            data += piece
        return data

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Reads the client's request for TLS, which does not contain the account yet, and then starts TLS."""
        self.hear()
        self.sock = context.wrap_socket(self.sock, server_side=True)

    def switch_to(self, plugin: str) -> bytes:
        """Asks the client to authenticate with another plugin. Returns the client's response."""
        self.say(b"\xfe" + plugin.encode() + b"\x00" + (PROMPT if plugin == "dialog" else CHALLENGE + b"\x00"))
        return self.hear()

    def let_in(self) -> None:
        """Sends the greeting of a MySQL server, and accepts the client's login, whatever account it names."""
        self.say(greeting())
        self.hear()
        self.say(OK)

    def statement(self) -> str:
        """Returns the client's next statement, without answering it.

        Statements that the client library sends by itself are answered and skipped.
        """
        while (said := self.hear())[1:].startswith((b"SET NAMES", b"SET AUTOCOMMIT", b"SET SESSION query_cache_type")):
            self.say(OK)
        return said[1:].decode()


@dataclass
class Listener:
    port: int
    talks: list[Talk] = field(default_factory=list)

    @property
    def heard(self) -> bytes:
        return b"|".join(piece for talk in self.talks for piece in talk.heard)

    def account(self, *, tls_ca: str | None = None, public_key: str = "") -> Any:
        return SimpleNamespace(
            host="127.0.0.1", port=self.port, username="fqc", password=PASSWORD,
            is_tls_required=tls_ca is not None, tls_ca=tls_ca or "", public_key=public_key,
        )  # fmt: skip


@contextmanager
def hostile(play: Callable[[Talk], Any]) -> Iterator[Listener]:
    """Starts a listener that runs `play` for every client, each in a thread.

    Yields the listener: what clients sent is in its `heard`. It is stopped at the end of the block.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        listener = Listener(server.getsockname()[1])
        threads: list[threading.Thread] = []

        def accept() -> None:
            with suppress(OSError):  # the socket was closed because the test is over
                while True:
                    sock, _ = server.accept()
                    threads.append(threading.Thread(target=_play, args=(listener, sock, play)))
                    threads[-1].start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield listener
        finally:
            server.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for talk in listener.talks:
                with suppress(OSError):
                    talk.sock.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()


def _play(listener: Listener, sock: socket.socket, play: Callable[[Talk], Any]) -> None:
    talk = Talk(sock)
    listener.talks.append(talk)
    with suppress(OSError):  # the client closed the connection, as it should
        play(talk)
    with suppress(OSError):
        talk.sock.close()


def column(kind: bytes = TEXT) -> bytes:
    facts = b"\x0c\x2d\x00\xff\x00\x00\x00" + kind + b"\x00\x00\x00\x00\x00"
    return b"\x03def\x00\x00\x00\x01n\x00" + facts


def forever(talk: Talk, body: bytes) -> None:
    """Sends the packet endlessly, as fast as the client takes it; ends with an OSError when the client has gone.

    Packet numbers restart after 256, so short ones are sent in batches of 256.
    """
    if len(body) < 2**16:
        packets = b"".join(talk.packet(body) for _ in range(256))
        while True:
            talk.sock.sendall(packets)
    while True:
        talk.say(body)


def answers(*first: bytes, then: bytes) -> Callable[[Talk], None]:
    def play(talk: Talk) -> None:
        talk.let_in()
        talk.statement()
        for body in first:
            talk.say(body)
        forever(talk, then)

    return play


def tells(value_of: Callable[[str], bytes | None], clock: bytes = b"clock") -> Callable[[Talk], None]:
    """Returns a `play` for `hostile` that lets clients log in and answers queries of variables: `value_of` gives the
    value for each name (None: NULL).

    A query of the time is answered under the name `clock`.
    """

    def play(talk: Talk) -> None:
        talk.let_in()
        while True:
            names = QUOTED.findall(talk.statement())
            rows = (
                [(clock, b"1800000000")] if names == ["clock"] else [(each.encode(), value_of(each)) for each in names]
            )
            packets = [_cell(name) + _cell(value) for name, value in rows]
            for body in (b"\x02", column(), column(), END, *packets, END):
                talk.say(body)

    return play


QUOTED = re.compile(r"'(\w+)'")


def _cell(value: bytes | None) -> bytes:
    if value is None:
        return b"\xfb"
    return (bytes([len(value)]) if len(value) < 251 else b"\xfc" + len(value).to_bytes(2, "little")) + value
