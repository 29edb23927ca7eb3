"""The system under test: disk, database, broker, the control plane's processes, and the servers that it manages."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from faults.disk import Disk
from faults.process import BACKEND, Process
from faults.recording import RecordingProxy

LEASE_SECONDS = 5
SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "FQC_CHANGE_LEASE_SECONDS": str(LEASE_SECONDS),
    "FQC_CONNECT_TIMEOUT_SECONDS": "2",
    "FQC_STATEMENT_TIMEOUT_SECONDS": "3",
    "FQC_LOG_LEVEL": "WARNING",
    "NO_PROXY": "127.0.0.1",
}
READY_SECONDS = 300.0


def await_that(is_met: Callable[[], bool], what: str, seconds: float = READY_SECONDS) -> None:
    until = time.monotonic() + seconds
    while not is_met():
        if time.monotonic() > until:
            raise RuntimeError(f"did not happen in {seconds:.0f} s: {what}")
        time.sleep(0.1)


@dataclass
class ManagedServer:
    """A managed server, its proxy, and its instance in the control plane."""

    server: Any
    proxy: RecordingProxy
    instance_id: str = ""

    def kill(self) -> None:
        self.server.stop(force=True)

    def start(self) -> None:
        await_that(self._is_started, "the server starts")

    def _is_started(self) -> bool:
        """Starts the server. False if that failed, since it may be killed or run out of disk space while it starts."""
        from controlplane.gateway.errors import GatewayError

        try:
            self.server.start()
        except (GatewayError, OSError):
            return False
        return True


@dataclass
class Deployment:
    folder: Path
    disk: Disk
    cluster: Any  # None on SQLite
    broker: Any  # None where the broker is a folder
    processes: dict[str, Process]
    servers: list[ManagedServer]
    url: str
    _database: Lock = field(default_factory=Lock)
    # A lock for each kind of strike, so that what is stopped is not stopped again.
    one_at_a_time: defaultdict[str, Lock] = field(default_factory=lambda: defaultdict(Lock))

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(self.url + "/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def mend(self) -> None:
        """Repairs everything that a strike broke, and waits until it works."""
        self.disk.free()
        if self.cluster is not None:
            await_that(self.start_database, "PostgreSQL runs")
        for process in self.processes.values():
            process.resume()
            process.start()
        for managed in self.servers:
            managed.proxy.admit()
            managed.start()
        await_that(self.is_ready, "the web process is ready")

    def start_database(self) -> bool:
        """Returns whether PostgreSQL answers.

        If it recovers, that is waited for; if it gave up, for example on a full disk, it is started.
        """
        with self._database:
            if not self._has_database():
                with suppress(subprocess.CalledProcessError):
                    self.cluster.start()
            return self._has_database()

    def stop_database(self) -> None:
        with self._database, suppress(subprocess.CalledProcessError):
            self.cluster.stop()

    def _has_database(self) -> bool:
        program = str(self.cluster.bin_dir / "pg_isready")
        words = [program, "-q", "-h", "127.0.0.1", "-p", str(self.cluster.port)]
        return subprocess.run(words, check=False).returncode == 0


@contextmanager
def deployment(*, database: str, broker: str, server_count: int, logs: Path) -> Iterator[Deployment]:
    logs.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        disk = Disk(Path(tempfile.mkdtemp(prefix="fqc-faults-")))
        stack.callback(disk.close)
        run_dir = disk.folder / "run"
        run_dir.mkdir()
        tempfile.tempdir = str(disk.folder)
        os.environ |= SETTINGS | {"FQC_RUN_DIR": str(run_dir), "TMPDIR": str(disk.folder)}
        cluster = _cluster(database, stack)
        if cluster is not None:
            os.environ["FQC_DATABASE_URL"] = cluster.url
        queue = _broker(broker, disk.folder, stack)
        if queue is not None:
            os.environ["FQC_BROKER_URL"] = queue.url
        subprocess.run([sys.executable, "manage.py", "migrate", "--skip-checks", "-v", "0"], cwd=BACKEND, check=True)
        import django

        django.setup()
        servers = _servers(server_count, stack)
        port, processes = _processes(logs)
        made = Deployment(disk.folder, disk, cluster, queue, processes, servers, f"http://127.0.0.1:{port}")
        for process in processes.values():
            stack.callback(process.kill)
            process.start()
        await_that(made.is_ready, "the web process is ready")
        yield made


def _cluster(database: str, stack: ExitStack) -> Any:
    if database != "postgresql":
        return None
    from testing import postgres

    return stack.enter_context(postgres.cluster())


def _broker(broker: str, folder: Path, stack: ExitStack) -> Any:
    if broker == "files":
        return None
    from testing.broker import Broker, RabbitMQ

    place = folder / "broker"
    place.mkdir()
    made = (RabbitMQ if broker == "rabbitmq" else Broker)(place)
    stack.callback(made.close)
    stack.callback(made.stop)
    made.start()
    return made


def _servers(count: int, stack: ExitStack) -> list[ManagedServer]:
    from testing.servers import servers

    make = stack.enter_context(servers())
    found = []
    for _ in range(count):
        server = make()
        proxy = RecordingProxy(server.port)
        stack.callback(proxy.close)
        found.append(ManagedServer(server, proxy))
    return found


def _processes(logs: Path) -> tuple[int, dict[str, Process]]:
    from testing.ports import free_port

    port = free_port()
    python = [sys.executable, "-m"]
    celery = [*python, "celery", "--app", "config.celery"]
    worker = [*celery, "worker", "--concurrency", "2"]
    worker += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    web = [*python, "config.web", "--port", str(port)]
    beat = [*celery, "beat", "--pidfile", "", "--schedule", str(logs / "schedule")]
    commands = {
        "web": [*web, "--log-level", "error"],
        "worker-1": [*worker, "--hostname", "one@localhost"],
        "worker-2": [*worker, "--hostname", "two@localhost"],
        "scheduler": beat,
    }
    environment = dict(os.environ)
    return port, {name: Process(name, command, environment, logs / f"{name}.log") for name, command in commands.items()}
