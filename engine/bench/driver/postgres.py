"""A private PostgreSQL, and pgpool-II before it, to do the same work with another server's query cache.

All of them listen on unix sockets in one private folder, and on nothing else. PostgreSQL refuses to run as root; then
they run as the account that its package made.
"""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

ACCOUNT = "postgres"
IS_ROOT = getpass.getuser() == "root"
AS_ACCOUNT: dict[str, Any] = {"user": ACCOUNT, "group": ACCOUNT, "extra_groups": []} if IS_ROOT else {}
PGPOOL = os.environ.get("FQC_PGPOOL", "/usr/sbin/pgpool")
PORT = 5432
START_SECONDS = 30
MOST_CLIENTS = 128
SERVER_SETTINGS = ("listen_addresses=", f"max_connections={MOST_CLIENTS * 3}", "shared_buffers=1GB", "fsync=off")


class PostgresFailed(RuntimeError):
    """PostgreSQL, pgpool-II or a tool of theirs is missing or failed; the message says what to do or contains the
    output."""


def binary(name: str) -> str:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    if not found:
        raise PostgresFailed(f"{name} is not installed; run `apt-get install postgresql`")
    return str(found[-1])


def pgpool() -> str:
    if not shutil.which(PGPOOL):
        raise PostgresFailed(f"{PGPOOL} is not there; run `apt-get install pgpool2`, or name another in FQC_PGPOOL")
    return PGPOOL


def own_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    if IS_ROOT:
        shutil.chown(folder, ACCOUNT, ACCOUNT)


def say(folder: Path, *command: str) -> str:
    """Runs a command to its end as the servers' account, and returns its output. Raises PostgresFailed if it fails."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, **AS_ACCOUNT)
    if result.returncode:
        raise PostgresFailed(f"`{' '.join(command)}` failed:\n{result.stdout}{result.stderr}")
    return str(result.stdout)


class Daemon:
    """A server process with a socket for its port in `folder`. It is ready once `wait` returns."""

    def __init__(self, folder: Path, port: int, *command: str) -> None:
        self.folder, self.port = folder, port
        self._log = folder / f"{port}.log"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, **AS_ACCOUNT)

    def wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self.ask("SELECT 1")
                return
            except PostgresFailed as error:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    said = self._log.read_text(errors="replace")
                    raise PostgresFailed(f"nothing answers on port {self.port}:\n{said}") from error
            time.sleep(0.1)

    def ask(self, statement: str) -> list[list[str]]:
        place = ("-h", str(self.folder), "-p", str(self.port))
        output = say(self.folder, binary("psql"), *place, "-XAtq", "-F", "\t", "-c", statement, ACCOUNT)
        return [line.split("\t") for line in output.splitlines()]

    def stop(self) -> None:
        # Both servers take SIGINT as: stop now, break the connections, clean up.
        self._process.send_signal(signal.SIGINT)
        self._process.wait()


def start_server(folder: Path) -> Daemon:
    data = folder / "postgres"
    say(folder, binary("initdb"), "-D", str(data), "-A", "trust", "-U", ACCOUNT, "--no-sync")
    settings = [part for setting in SERVER_SETTINGS for part in ("-c", setting)]
    server = Daemon(folder, PORT, binary("postgres"), "-D", str(data), "-k", str(folder), "-p", str(PORT), *settings)
    server.wait()
    return server


def start_pgpool(folder: Path, port: int, is_cached: bool, cache_mb: int) -> Daemon:
    home = folder / f"pgpool-{port}"
    own_folder(home)
    settings = {
        "backend_clustering_mode": "raw",
        "backend_hostname0": folder,
        "backend_port0": PORT,
        "listen_addresses": "",
        "port": port,
        "socket_dir": folder,
        "pcp_listen_addresses": "",
        "pcp_socket_dir": folder,
        "pcp_port": port + 1,
        "pid_file_name": home / "pid",
        "logdir": home,
        "pool_passwd": "",
        "num_init_children": MOST_CLIENTS,
        "max_pool": 1,
        "memory_cache_enabled": "on" if is_cached else "off",
        "memqcache_method": "shmem",
        "memqcache_total_size": f"{cache_mb}MB",
        "memqcache_oiddir": home,
    }
    configuration = home / "pgpool.conf"
    configuration.write_text("".join(f"{name} = '{value}'\n" for name, value in settings.items()))
    daemon = Daemon(folder, port, pgpool(), "-n", "-f", str(configuration), "-F", "/dev/null", "-a", "/dev/null")
    daemon.wait()
    return daemon
