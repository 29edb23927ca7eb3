"""Real web processes, and clients that send bodies above the limit."""

from __future__ import annotations

import http.client
import json
import select
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

PATH = "/api/v1/auth/session"
PATIENCE_SECONDS = 180
CHUNK = b"10000\r\n" + b"x" * 65536 + b"\r\n"
MOST_CHUNKS = 4096  # 256 MiB


@pytest.fixture
def address(web: Any) -> tuple[str, int]:
    parts = urlsplit(web())
    return str(parts.hostname), int(parts.port or 0)


def answer_of(caller: socket.socket) -> tuple[int, Any]:
    answer = http.client.HTTPResponse(caller)
    answer.begin()
    return answer.status, json.loads(answer.read())


@pytest.mark.parametrize(
    ("path", "code"), [(PATH, ("code", "too_large")), ("/?Action=X", ("Code", "InvalidRequest.TooLarge"))]
)
def test_a_body_that_says_it_is_too_long_is_not_waited_for(
    address: tuple[str, int], path: str, code: tuple[str, str]
) -> None:
    host = f"{address[0]}:{address[1]}"
    kind = "application/json" if path == PATH else "application/x-www-form-urlencoded"
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\nContent-Length: 1000000000\r\n\r\n"
    with socket.create_connection(address, PATIENCE_SECONDS) as caller:
        caller.sendall(head.encode() + b"x" * 1_000_000)
        status, said = answer_of(caller)
    assert (status, said[code[0]]) == (413, code[1])


def test_a_body_that_does_not_say_how_long_it_is_is_read_to_the_limit(address: tuple[str, int]) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(address, PATIENCE_SECONDS) as caller:
        caller.sendall(head.encode())
        caller.setblocking(False)
        sent = _send_until_answered(caller)
        caller.settimeout(PATIENCE_SECONDS)
        status, said = answer_of(caller)
    assert (status, said["code"]) == (413, "too_large")
    assert sent < MOST_CHUNKS


def _send_until_answered(caller: socket.socket) -> int:
    for sent in range(MOST_CHUNKS):
        rest = memoryview(CHUNK)
        while rest:
            readable, writable, _ = select.select([caller], [caller], [], PATIENCE_SECONDS)
            if readable or not writable:
                return sent
            rest = rest[caller.send(rest) :]
    return MOST_CHUNKS


def test_a_body_up_to_the_limit_is_read(address: tuple[str, int]) -> None:
    connection = http.client.HTTPConnection(*address, timeout=PATIENCE_SECONDS)
    body = json.dumps({"username": "x", "password": "x" * 2_000_000})
    connection.request("POST", PATH, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    assert answer.status in {400, 403} and json.loads(answer.read())["code"] != "too_large"
    connection.close()


@pytest.mark.django_db
def test_json_over_the_limit_is_refused_before_it_is_taken_apart(operator: Any) -> None:
    answer = operator.post("/api/v1/tokens", {"name": "x" * 3_000_000, "scope": "viewer"})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
