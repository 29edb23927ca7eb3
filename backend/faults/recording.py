"""A proxy in front of one server. It can cut and refuse connections, and records every SET GLOBAL."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Thread

from testing.wire import Proxy

SET = re.compile(rb"SET GLOBAL `(\w+)` = '?([0-9.]+)")


@dataclass(frozen=True)
class SetStatement:
    """One SET GLOBAL of a variable."""

    name: str
    value: str


class RecordingProxy(Proxy):
    def __init__(self, port: int) -> None:
        self.noted: list[SetStatement] = []
        self._is_closed_to_all = Event()
        super().__init__(port)

    def ask(self, server: socket.socket, data: bytes) -> None:
        server.sendall(data)
        self.noted += [SetStatement(name.decode(), value.decode()) for name, value in SET.findall(data)]

    def cut(self) -> None:
        """Closes every open connection."""
        for each in self._open[:]:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def refuse(self) -> None:
        self._is_closed_to_all.set()
        self.cut()

    def admit(self) -> None:
        self._is_closed_to_all.clear()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                if self._is_closed_to_all.is_set():
                    raise ConnectionRefusedError
                server = socket.create_connection(("127.0.0.1", self.server_port))
            except OSError:  # the server is down
                client.close()
                continue
            self._open += [client, server]
            for source, target, on in ((client, server, self.ask), (server, client, self.answer)):
                Thread(target=self._pass, args=(source, target, on), daemon=True).start()
