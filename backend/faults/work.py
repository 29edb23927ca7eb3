"""The clients' requests.

Each sets all of `NAMES` to a number that no other request uses, and is noted with its answer: a number that arrives
twice, or only in part, identifies the request that went wrong.
"""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any

# These variables are dynamic, have a wide range, and do not affect the work.
NAMES = ("lock_wait_timeout", "interactive_timeout", "max_write_lock_count")
FIRST = 1000
FOLLOW_SECONDS = 10.0


@dataclass
class RequestLedger:
    """The changes that requests were answered with, by number, and the counts of requests without answer or with a
    refusal.
    """

    changes: dict[int, str] = field(default_factory=dict)
    fleet_applies: dict[int, str] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)

    def count(self, status: int | None) -> None:
        name = "no answer" if status is None else str(status)
        self.statuses[name] = self.statuses.get(name, 0) + 1


class Client:
    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url + "/api/v1", token
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int | None, Any]:
        """Returns status and body. The status is None if there was no answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json", **headers}
        try:
            with self._opener.open(urllib.request.Request(self._url + path, data, headers), timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, None
        except (OSError, ValueError):
            return None, None

    def ask_until_told(self, path: str, body: Any, key: str, is_over: threading.Event) -> tuple[int | None, Any]:
        """Repeats the request with the same key, as a careful client does, until there is an answer that is not a
        server error.
        """
        while True:
            status, answer = self.ask(path, body, **{"Idempotency-Key": key})
            if (status is not None and status < 500 and status != 429) or is_over.wait(0.3):
                return status, answer


class Work:
    def __init__(self, client: Client, instances: list[str], seed: int) -> None:
        self._client, self._instances, self._random = client, instances, random.Random(seed)
        self._numbers, self._lock = itertools.count(FIRST), threading.Lock()
        self.told, self.is_over = RequestLedger(), threading.Event()

    def go_on(self) -> None:
        """Sends requests of one client until the end."""
        while not self.is_over.is_set():
            with self._lock:
                number, dice = next(self._numbers), self._random.random()
                instance = self._random.choice(self._instances)
            if dice < 0.85:
                self._change(number, instance)
            elif dice < 0.95:
                self._fleet_apply(number)
            else:
                self._roll_back()
            time.sleep(0.05)

    def _wanted(self, number: int) -> dict[str, str]:
        return {name: str(number) for name in NAMES}

    def _change(self, number: int, instance: str) -> None:
        body = {"parameters": self._wanted(number), "apply": True, "note": str(number)}
        status, made = self._client.ask_until_told(
            f"/instances/{instance}/changes", body, f"change-{number}", self.is_over
        )
        self.told.count(status)
        if status == 201:
            self.told.changes[number] = made["id"]
            self._follow(made["id"])

    def _follow(self, change: str) -> None:
        """Waits for the end of a change, as most users do: another change would be refused until then."""
        until = time.monotonic() + FOLLOW_SECONDS
        while time.monotonic() < until and not self.is_over.wait(0.2):
            _, answer = self._client.ask(f"/changes/{change}")
            if answer and answer["finished_at"]:
                return

    def _fleet_apply(self, number: int) -> None:
        template = {"name": f"faults-{number}", "values": self._wanted(number)}
        status, made = self._client.ask_until_told("/templates", template, f"template-{number}", self.is_over)
        if status != 201:
            self.told.count(status)
            return
        body = {"template": made["id"], "every": True, "max_failures": 100, "start": True, "note": str(number)}
        status, made = self._client.ask_until_told("/fleet-applies", body, f"fleet-{number}", self.is_over)
        self.told.count(status)
        if status == 201:
            self.told.fleet_applies[number] = made["id"]

    def _roll_back(self) -> None:
        with self._lock:
            done = list(self.told.changes.values())
            change = self._random.choice(done) if done else None
        if change is not None:
            status, _ = self._client.ask(f"/changes/{change}/rollback", {})
            self.told.count(status)
