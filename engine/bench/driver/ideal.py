"""The ideal cache: it answers every read at once with the same row, by a thread for each connection.

It knows neither statements nor results, so nothing inside such a server can be faster while the load generator shares
its processors. Measured like a configuration, but it is no server: what concerns caches and settings passes it by.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

NAME = "IDEAL"
PROGRAM = Path(__file__).resolve().parents[2] / "dist" / "ideal"
SAID = "listening on port "


class IdealFailed(RuntimeError):
    """The responder did not start; the message says what it printed."""


class Ideal:
    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        said = self._process.stdout.readline()
        if not said.startswith(SAID):
            self.stop()
            raise IdealFailed(f"{PROGRAM} did not start: {said!r}")
        self.place = ("--mysql-host=127.0.0.1", f"--mysql-port={int(said.removeprefix(SAID))}")

    @property
    def pid(self) -> int:
        return self._process.pid

    def status(self, _pattern: str) -> dict[str, int]:
        """Everything is a hit, and nothing counts it."""
        return {"Qcache_hits": 0}

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate()
