"""A private PostgreSQL cluster for one test run: own folder, own port, loopback only, gone afterwards.

PostgreSQL refuses to run as root; root hands the cluster to the `postgres` account.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testing.ports import free_port

ACCOUNT = "postgres"
# Test data need not survive a crash of the machine, but commits must survive a stop of the server. Statements are too
# small to be worth compiling.
SETTINGS = ("fsync=off", "full_page_writes=off", "jit=off")


def programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    on_path = shutil.which("initdb")
    if not found and not on_path:
        raise RuntimeError("no PostgreSQL server programs found: install the package postgresql")
    return found[-1] if found else Path(str(on_path)).parent


def _run(*words: str) -> None:
    as_account = ["runuser", "-u", ACCOUNT, "--"] if os.geteuid() == 0 else []
    subprocess.run([*as_account, *words], check=True, stdout=subprocess.DEVNULL, cwd="/")


class Cluster:
    def __init__(self, folder: Path, copied: str) -> None:
        self.folder, self.port, self.bin_dir = folder, free_port(), programs()
        self.data, self._is_running = folder / "data", False
        self.url = f"postgresql://{ACCOUNT}@127.0.0.1:{self.port}/postgres"
        if copied:
            _run("cp", "-a", copied, str(self.data))
        else:
            words = ["-U", ACCOUNT, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
            _run(str(self.bin_dir / "initdb"), "-D", str(self.data), *words)

    def _control(self, *words: str) -> None:
        _run(str(self.bin_dir / "pg_ctl"), "-D", str(self.data), "-w", *words)

    def start(self) -> None:
        settings = "".join(f" -c {setting}" for setting in SETTINGS)
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1{settings}"
        self._control("-l", str(self.folder / "log"), "-o", options, "start")
        self._is_running = True

    def stop(self, mode: str = "immediate") -> None:
        """Stops the cluster if it runs. `mode`: "immediate" is like a crash; after "fast" the folder `data` may be
        copied.
        """
        if self._is_running:
            self._control("-m", mode, "stop")
            self._is_running = False


@contextmanager
def cluster(copied: str = "") -> Iterator[Cluster]:
    """Yields a new, running cluster. `copied`: the data of a stopped one to begin with, instead of none."""
    folder = Path(tempfile.mkdtemp(prefix="fqc-postgres-"))
    if os.geteuid() == 0:
        os.chown(folder, pwd.getpwnam(ACCOUNT).pw_uid, -1)
    try:
        made = Cluster(folder, copied)
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
