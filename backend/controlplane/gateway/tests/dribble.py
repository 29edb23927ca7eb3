"""A listener in front of a real server that passes its answers on byte by byte, each within any timeout of a read."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

NEVER = b"nothing that is ever sent"


class DribblingProxy:
    """Passes bytes on as they come; once a client has sent `marker`, or after `begin`, one at a time."""

    def __init__(self, port: int, marker: bytes, pause_seconds: float) -> None:
        self.server_port, self.marker, self.pause_seconds = port, marker, pause_seconds
        self._is_dribbling, self._has_ended = threading.Event(), threading.Event()
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.server_port))
            self._open += [client, server]
            threading.Thread(target=self._pass, args=(client, server, self._ask), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, self._answer), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, on: Callable[[socket.socket, bytes], None]) -> None:
        try:
            while data := source.recv(65536):
                on(target, data)
        except OSError:
            pass
        target.close()

    def _ask(self, server: socket.socket, data: bytes) -> None:
        if self.marker in data:
            self._is_dribbling.set()
        server.sendall(data)

    def _answer(self, client: socket.socket, data: bytes) -> None:
        if not self._is_dribbling.is_set():
            client.sendall(data)
            return
        for byte in data:
            client.sendall(bytes([byte]))
            if self._has_ended.wait(self.pause_seconds):
                return

    def begin(self) -> None:
        self._is_dribbling.set()

    def close(self) -> None:
        self._has_ended.set()
        for each in (self._listener, *self._open):
            each.close()


@contextmanager
def dribbling(port: int, marker: bytes = NEVER, pause_seconds: float = 0.05) -> Iterator[DribblingProxy]:
    proxy = DribblingProxy(port, marker, pause_seconds)
    try:
        yield proxy
    finally:
        proxy.close()
