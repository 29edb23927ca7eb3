"""A client of a web application. It keeps cookies, follows redirects, and waits until the application has closed the
connection.

Applications go on working after the last byte of a page. A client that does not wait for that would see the old state
or the new one by chance.
"""

from __future__ import annotations

import http.client
import json
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# The host name in all requests, so that the pages of different sites do not differ by their port.
HOST = "apps.test"
SECONDS = 120
MOST_REDIRECTS = 5


@dataclass(frozen=True)
class Page:
    status: int
    text: str


class Browser:
    def __init__(self, port: int) -> None:
        self._port = port
        self._cookies: dict[str, str] = {}

    def another(self) -> Browser:
        """Returns a client of the same site with no cookies yet."""
        return Browser(self._port)

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Page:
        return self._follow("GET", path, None, headers or {})

    def post(self, path: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Page:
        sent = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
        return self._follow("POST", path, urllib.parse.urlencode(form), sent)

    def send(self, method: str, path: str, document: Any, headers: Mapping[str, str] | None = None) -> Page:
        """Sends a document as JSON, follows redirects, and returns the page."""
        sent = {"Content-Type": "application/json", **(headers or {})}
        return self._follow(method, path, json.dumps(document), sent)

    def _follow(self, method: str, path: str, body: str | None, headers: Mapping[str, str]) -> Page:
        for _ in range(MOST_REDIRECTS):
            status, location, text = self._ask(method, path, body, headers)
            if status not in (301, 302, 303):
                return Page(status, text)
            method, body = "GET", None
            headers = {name: value for name, value in headers.items() if name != "Content-Type"}
            place = urllib.parse.urlsplit(urllib.parse.urljoin(f"http://{HOST}{path}", location))
            if place.hostname != HOST:
                return Page(status, f"leads to {location}")
            path = urllib.parse.urlunsplit(("", "", place.path, place.query, ""))
        return Page(310, f"too many redirections, the last one to {path}")

    def _ask(self, method: str, path: str, body: str | None, headers: Mapping[str, str]) -> tuple[int, str, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=SECONDS)
        sent = {"Host": HOST, "Connection": "close", "User-Agent": "fqc-lab", **headers}
        if self._cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        connection.connect()
        with connection.sock.dup() as socket:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
            while socket.recv(4096):
                pass
        self._keep(answer.headers.get_all("Set-Cookie") or [])
        connection.close()
        return answer.status, answer.headers.get("Location", ""), text

    def _keep(self, lines: list[str]) -> None:
        for line in lines:
            name, _, value = line.partition(";")[0].partition("=")
            is_gone = value in ("", "deleted", "%20", "+") or "max-age=0" in line.lower()
            if is_gone:
                self._cookies.pop(name, None)
            else:
                self._cookies[name] = value
