"""A listener between the control plane and a server that can hold the server's answers back."""

from __future__ import annotations

import socket
import threading


class HoldingProxy:
    """Forwards bytes. Once a client has sent `marker`, the answer is kept until `release`.

    The server has then done what it was asked, and the client does not know.
    """

    def __init__(self, port: int, marker: bytes) -> None:
        self.server_port, self.marker = port, marker
        self.is_held = threading.Event()
        self._released = threading.Event()
        self.seen = 0
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
            threading.Thread(target=self._ask, args=(client, server), daemon=True).start()
            threading.Thread(target=self._answer, args=(server, client), daemon=True).start()

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        try:
            while data := client.recv(65536):
                if self.marker in data:
                    self.seen += 1
                    self.is_held.set()
                server.sendall(data)
        except OSError:
            pass
        server.close()

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        try:
            while data := server.recv(65536):
                if self.is_held.is_set():
                    self._released.wait()
                client.sendall(data)
        except OSError:
            pass
        client.close()

    def release(self) -> None:
        self._released.set()

    def close(self) -> None:
        self.release()
        self._listener.close()
