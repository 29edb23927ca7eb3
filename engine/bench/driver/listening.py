"""Starts a program of this project that listens on a port of its own choice and prints the port."""

from __future__ import annotations

import subprocess
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parents[2] / "dist"
SAID = "listening on port "


class NotListening(RuntimeError):
    """The program did not start; the message contains what it printed first."""


class Listening:
    def __init__(self, program: Path, *arguments: str) -> None:
        self._process = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        said = self._process.stdout.readline()
        if not said.startswith(SAID):
            self.stop()
            raise NotListening(f"{program} did not start: {said!r}")
        self.port = int(said.removeprefix(SAID))

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate()
