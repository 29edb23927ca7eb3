"""A real HTTP receiver for tests, on a free port of the loopback, with answers that the test chooses."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Desk:
    """The shared state of an HTTP receiver and its test: the requests that it has received, and the answer that it is
    to give.
    """

    url: str = ""
    received: list[Received] = field(default_factory=list)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    said: bytes = b"ok"
    may_answer: Event = field(default_factory=Event)
    drips: bool = False  # sends a byte of its answer now and then, for ever
    is_over: Event = field(default_factory=Event)


@contextmanager
def receiver(certificate: ssl.SSLContext | None = None) -> Iterator[Desk]:
    desk = Desk()
    desk.may_answer.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            desk.received.append(Received(self.path, dict(self.headers), body))
            desk.may_answer.wait(60)
            if desk.drips:
                self._drip()
                return
            self.send_response(desk.status)
            for name, value in desk.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(desk.said)

        def _drip(self) -> None:
            try:
                while not desk.is_over.wait(0.05):
                    self.wfile.write(b"H")
            except OSError:
                pass

        def log_message(self, *args: Any) -> None:
            """Keeps the receiver's log out of the tests' output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if certificate:
        server.socket = certificate.wrap_socket(server.socket, server_side=True)
    desk.url = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}/hook"
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield desk
    finally:
        desk.is_over.set()
        desk.may_answer.set()
        server.shutdown()
        thread.join()
        server.server_close()
