"""Real web processes on the test's database, and a browser of sorts for them."""

from __future__ import annotations

import http.cookiejar
import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from testing.postgres import free_port
from testing.workers import BACKEND, environment_of, until


class Browser:
    """Keeps cookies; sends the CSRF token."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), urllib.request.ProxyHandler({})
        )

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any, Any]:
        """Status, body and headers of the answer."""
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


def _is_ready(url: str) -> bool:
    try:
        return Browser(url).ask("/readyz")[0] == 200
    except OSError:
        return False


@pytest.fixture
def web(transactional_db: None) -> Iterator[Callable[..., str]]:
    """Starts one and waits until it answers; its address."""
    started: list[subprocess.Popen[bytes]] = []

    def start(**environment: str) -> str:
        port = free_port()
        words = [sys.executable, "-m", "uvicorn", "config.asgi:application", "--port", str(port), "--lifespan", "off"]
        words += ["--log-level", "critical"]
        started.append(subprocess.Popen(words, cwd=BACKEND, env=environment_of(**environment)))
        url = f"http://127.0.0.1:{port}"
        until(lambda: _is_ready(url), "the web process answers")
        return url

    yield start
    for process in started:
        process.kill()
        process.wait()
