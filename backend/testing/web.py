"""Real web processes on the test's database, and a simple browser for them."""

from __future__ import annotations

import http.client
import http.cookiejar
import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from testing.ports import free_port, is_free
from testing.workers import BACKEND, environment_of, until


class Browser:
    """An HTTP client for the API at `url` that keeps cookies. Requests have a time limit of three minutes."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), urllib.request.ProxyHandler({})
        )

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any, Any]:
        """Sends a GET, or a POST if there is a body. Returns status, JSON body and headers of the response."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **headers}
        try:
            with self._opener.open(urllib.request.Request(self.url + path, data, headers), timeout=180) as answer:
                return answer.status, json.load(answer), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, json.load(error), error.headers

    def log_in(self, username: str, password: str) -> int:
        session = "/api/v1/auth/session"
        token = self.ask(session)[1]["csrf_token"]
        return self.ask(session, {"username": username, "password": password}, **{"X-CSRFToken": token})[0]


def _url(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def _is_up(url: str) -> bool:
    """Returns whether the process answers.

    A redirect counts (TLS only), and so does a refusal (other host names only).
    """
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=180)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status in {200, 301, 400}
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def process_at(url: str) -> str:
    """Returns the id of the process that listens at this loopback address. Fails if none does."""
    here = f":{int(url.rpartition(':')[2]):04X} 00000000:0000"
    inode = next(line.split()[9] for line in Path("/proc/net/tcp").read_text().splitlines() if here in line)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(f"socket:[{inode}]" == str(each.readlink()) for each in (process / "fd").iterdir()):
                return process.name
    raise AssertionError(f"nobody listens at {url}")


@pytest.fixture
def web(transactional_db: None) -> Iterator[Callable[..., str]]:
    """Yields a function that starts a web process, waits until it answers and returns its address.

    Its keyword arguments are environment variables; `{port}` in one is replaced by the process's port. All are killed
    in the end.
    """
    started: list[subprocess.Popen[bytes]] = []

    def answers(port: int, environment: dict[str, str]) -> bool:
        words = [sys.executable, "-m", "config.web", "--port", str(port), "--log-level", "critical"]
        here = {name: value.replace("{port}", str(port)) for name, value in environment.items()}
        process = subprocess.Popen(words, cwd=BACKEND, env=environment_of(**here))
        started.append(process)
        until(lambda: process.poll() is not None or _is_up(_url(port)), "the web process answers, or has ended")
        return process.poll() is None

    def start(**environment: str) -> str:
        port = free_port()
        while not answers(port, environment):
            assert not is_free(port), "the web process has ended"
            # Another server has taken the port in the meantime.
            port = free_port()
        return _url(port)

    yield start
    for process in started:
        process.kill()
        process.wait()
