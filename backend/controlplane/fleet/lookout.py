"""Runs the looks at the servers in one process of all workers, so that an idle server has one connection from here.

The first process that gets the task takes a lease and keeps it: a thread does what is due, again and again, until
another process has the lease or it cannot be renewed; then it closes all its connections. The lease is renewed while a
round is at work. If a process dies, its lease expires, and the process that gets the next task takes over.

Duties in one lane run one after the other; lanes do not wait for each other.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import structlog
from django.db import DatabaseError, connection

from controlplane.core import clock
from controlplane.core.turns import turn_claim, turn_renew
from controlplane.fleet.kept_connections import PROCESS, Connections

NAME = "lookout"
LEASE_SECONDS = 20.0
TICK_SECONDS = 1.0

Duty = Callable[[], object]  # each duty checks itself whether it is due

log = structlog.get_logger(__name__)


class Lookout:
    def __init__(self, connections: Connections) -> None:
        self.connections = connections
        self.lanes: defaultdict[str, list[Duty]] = defaultdict(list)
        self._thread: threading.Thread | None = None

    def ensure_running(self) -> None:
        """Takes the lease and starts the thread that looks at the servers, unless this process runs it already or
        another one holds the lease. Only tasks call this, one after the other, so it needs no lock.
        """
        if self._thread is not None and self._thread.is_alive():
            return
        now = clock.shared_time()
        if turn_claim(NAME, now, LEASE_SECONDS):
            self._thread = threading.Thread(target=self._stay, args=(now + LEASE_SECONDS,), name=NAME, daemon=True)
            self._thread.start()

    def _stay(self, lease: float) -> None:
        log.info("lookout_taken")
        try:
            with ThreadPoolExecutor(len(self.lanes), "round") as threads:
                self._look(threads, lease)
        except (DatabaseError, RuntimeError) as error:  # RuntimeError: the process is ending
            log.warning("lookout_failed", error=str(error))
        finally:
            self.connections.keep_only(())
            connection.close()

    def _look(self, threads: ThreadPoolExecutor, lease: float) -> None:
        at_work: dict[str, Future[None]] = {}
        while True:
            now = clock.shared_time()
            if not turn_renew(NAME, lease, now + LEASE_SECONDS):
                log.info("lookout_lost")
                return
            lease = now + LEASE_SECONDS
            for lane in self.lanes:
                if lane not in at_work or at_work[lane].done():
                    at_work[lane] = threads.submit(self._round, lane)
            time.sleep(TICK_SECONDS)

    def _round(self, lane: str) -> None:
        for duty in self.lanes[lane]:
            try:
                duty()
            except Exception:  # the next round tries again, whatever the error was
                log.exception("lookout_duty_failed", duty=duty.__name__)
                connection.close()


LOOKOUT = Lookout(PROCESS)
