"""The faults that are injected while the system works.

Each strike ends after at most `LONGEST_SECONDS` and repairs what it broke.
"""

from __future__ import annotations

import random
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress

from faults.deployment import LEASE_SECONDS, Deployment, ManagedServer, await_that
from faults.process import Process

LONGEST_SECONDS = 2 * LEASE_SECONDS
PAUSE_SECONDS = (0.2, 2.0)  # between one strike and the next


class Strikes:
    def __init__(self, deployment: Deployment, seed: int) -> None:
        self._deployment, self._random = deployment, random.Random(seed)
        self.struck: Counter[str] = Counter()
        self.is_over = threading.Event()
        kinds = {
            "a process killed": self._kill,
            "a worker's child killed": self._kill_child,
            "a process paused": self._pause,
            "a server killed": self._kill_server,
            "connections to a server cut": self._cut,
            "a server out of reach": self._refuse,
            "the database stopped" if deployment.cluster else "the database locked": (
                self._stop_database if deployment.cluster else self._lock_database
            ),
        }
        if deployment.broker:
            kinds["the broker stopped"] = self._stop_broker
        if deployment.disk.is_fillable:
            kinds["the disk full"] = self._fill
        self._kinds: dict[str, Callable[[], None]] = kinds

    def go_on(self) -> None:
        while not self.is_over.wait(self._random.uniform(*PAUSE_SECONDS)):
            name = self._random.choice(list(self._kinds))
            with self._deployment.one_at_a_time[name]:
                self.struck[name] += 1
                self._kinds[name]()

    def _wait(self) -> None:
        self.is_over.wait(self._random.uniform(0.1, LONGEST_SECONDS))

    def _process(self) -> Process:
        return self._random.choice(list(self._deployment.processes.values()))

    def _server(self) -> ManagedServer:
        return self._random.choice(self._deployment.servers)

    def _kill(self) -> None:
        process = self._process()
        process.kill()
        self.is_over.wait(self._random.uniform(0, 2))
        process.start()

    def _kill_child(self) -> None:
        names = [name for name in self._deployment.processes if name.startswith("worker")]
        self._deployment.processes[self._random.choice(names)].kill_child()

    def _pause(self) -> None:
        process = self._process()
        process.pause()
        self._wait()
        process.resume()

    def _kill_server(self) -> None:
        managed = self._server()
        managed.kill()
        self._wait()
        managed.start()

    def _cut(self) -> None:
        self._server().proxy.cut()

    def _refuse(self) -> None:
        proxy = self._server().proxy
        proxy.refuse()
        self._wait()
        proxy.admit()

    def _stop_database(self) -> None:
        self._deployment.stop_database()
        self._wait()
        await_that(self._deployment.start_database, "PostgreSQL runs")

    def _lock_database(self) -> None:
        """Locks the database for a while, as another program that writes would do."""
        file = self._deployment.folder / "run" / "db.sqlite3"
        with closing(sqlite3.connect(file, isolation_level=None)) as database, suppress(sqlite3.OperationalError):
            database.execute("BEGIN IMMEDIATE")
            self._wait()
            database.execute("ROLLBACK")

    def _stop_broker(self) -> None:
        self._deployment.broker.stop()
        self._wait()
        self._deployment.broker.start()

    def _fill(self) -> None:
        self._deployment.disk.fill()
        self._wait()
        self._deployment.disk.free()
        self._deployment.mend()  # start again what gave up in the meantime
