"""Enables the cache like any user: through the API, as a change set of the administrator."""

import json
import time
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from typing import Any

from stack.fleet import Administrator, Instance
from stack.problem import Problem
from stack.waiting import wait_until

_APPLY_SECONDS = 120
_ENDED = {"applied", "rolled_back", "failed", "aborted"}


class Api:
    """A session of the API like the console's: a cookie, and a CSRF token. `address`: where the web process listens."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        self._token = self.call("GET", "auth/session")["csrf_token"]

    def log_in(self, admin: Administrator) -> None:
        given = {"username": admin.username, "password": admin.password}
        self._token = self.call("POST", "auth/session", given)["csrf_token"]

    def call(self, method: str, path: str, body: object = None) -> Any:
        request = urllib.request.Request(f"{self._address}/api/v1/{path}", method=method)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
            request.add_header("X-CSRFToken", self._token)
            request.add_header("Origin", self._address)
        try:
            with self._opener.open(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            answer = error.read().decode(errors="replace")
            raise Problem(f"{method} {path} was refused with {error.code}: {answer}") from error
        except OSError as error:
            raise Problem(f"the API at {self._address} does not answer ({error}); is it up? make status") from error


def enable(api: Api, instance: Instance) -> None:
    change = api.call("POST", f"instances/{instance.id}/cache/enable", {"apply": True, "when": "now"})
    end = time.monotonic() + _APPLY_SECONDS
    wait_until(lambda: _state(api, change["id"]) in _ENDED, end - time.monotonic())
    state = _state(api, change["id"])
    if state != "applied":
        raise Problem(
            f"enabling the cache on {instance.name} ended as {state}; see change {change['id']} in the console"
        )


def _state(api: Api, change_id: str) -> str:
    return str(api.call("GET", f"changes/{change_id}")["state"])
