"""`fqc` sends a request again that a busy control plane has refused. A real HTTP server plays the control plane."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from fqc.api import Api
from fqc.contexts import Context
from fqc.failure import Failure


class Busy(ThreadingHTTPServer):
    """A server that refuses as many requests as a test sets, as busy, and answers those after them."""

    refusals = 0
    pause = "0"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.keys: list[str | None] = []


class Answer(BaseHTTPRequestHandler):
    server: Busy

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.keys.append(self.headers["Idempotency-Key"])
        is_busy = len(self.server.keys) <= self.server.refusals
        problem = {"status": 429, "code": "busy", "detail": "Too many requests came at once.", "request_id": "req-1"}
        body = json.dumps(problem if is_busy else {"name": "x"}).encode()
        self.send_response(429 if is_busy else 201)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", self.server.pause)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Busy]:
    with Busy() as server:
        Thread(target=server.serve_forever).start()
        yield server
        server.shutdown()


def api(server: Busy) -> Api:
    return Api(Context(url=f"http://127.0.0.1:{server.server_port}", token="t"))


def test_what_was_not_begun_is_sent_again(server: Busy) -> None:
    server.refusals = 3
    assert api(server).post("templates", {"name": "x"}) == {"name": "x"}
    assert len(server.keys) == 4
    assert len({*server.keys}) == 1


@pytest.mark.parametrize(("pause", "requests"), [("0", 6), ("3600", 1), ("soon", 1)])
def test_nobody_waits_for_ever(server: Busy, pause: str, requests: int) -> None:
    server.refusals, server.pause = 100, pause
    with pytest.raises(Failure, match="Too many requests"):
        api(server).post("templates", {"name": "x"})
    assert len(server.keys) == requests
