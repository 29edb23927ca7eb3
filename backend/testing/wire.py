"""Proxies between the control plane and a server that can hold back the server's answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable


class Proxy:
    """Passes bytes between clients and a server on loopback, through `ask` and `answer`, which subclasses override.

    Clients connect to `port`. It listens as soon as it is made, until `close`.
    """

    def __init__(self, port: int) -> None:
        self.server_port = port
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def ask(self, server: socket.socket, data: bytes) -> None:
        server.sendall(data)

    def answer(self, client: socket.socket, data: bytes) -> None:
        client.sendall(data)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.server_port))
            self._open += [client, server]
            threading.Thread(target=self._pass, args=(client, server, self.ask), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, self.answer), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, on: Callable[[socket.socket, bytes], None]) -> None:
        try:
            while data := source.recv(65536):
                on(target, data)
        except OSError:
            pass
        target.close()

    def close(self) -> None:
        """Closes the listener and wakes threads that wait in `accept`, which would otherwise take connections of the
        next listener on this port."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        self._listener.close()


class HoldingProxy(Proxy):
    """Passes bytes. Once a client has sent `marker`, the server's answers are kept back until `release`.

    The server has then done what it was asked, and the client does not know. `seen` counts the pieces with the marker.
    """

    def __init__(self, port: int, marker: bytes) -> None:
        self.marker = marker
        self.is_held, self._released = threading.Event(), threading.Event()
        self.seen = 0
        super().__init__(port)

    def ask(self, server: socket.socket, data: bytes) -> None:
        if self.marker in data:
            self.seen += 1
            self.is_held.set()
        server.sendall(data)

    def answer(self, client: socket.socket, data: bytes) -> None:
        if self.is_held.is_set():
            self._released.wait()
        client.sendall(data)

    def release(self) -> None:
        self._released.set()

    def close(self) -> None:
        self.release()
        super().close()


class DribblingProxy(Proxy):
    """Passes answers byte by byte, with a pause between two, once a client has sent `marker`, or after `begin`.

    So no single read of the client times out, and the answer still takes long.
    """

    def __init__(self, port: int, marker: bytes, pause_seconds: float) -> None:
        self.marker, self.pause_seconds = marker, pause_seconds
        self._is_dribbling, self._has_ended = threading.Event(), threading.Event()
        super().__init__(port)

    def ask(self, server: socket.socket, data: bytes) -> None:
        if self.marker in data:
            self.begin()
        server.sendall(data)

    def answer(self, client: socket.socket, data: bytes) -> None:
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
        super().close()
        for each in self._open:
            each.close()
