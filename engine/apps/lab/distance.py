"""A server that seems far away, and the time that an application waits for the database.

Between the server and the others stands a program that passes everything on later. Another one without a delay stands
next to the application, and adds up the time from each request to the last part of its response.
"""

from __future__ import annotations

from pathlib import Path

from driver.near import distance
from driver.server import Server


class Distance:
    def __init__(self, server: Server, folder: Path, each_way_us: int) -> None:
        """Clients and near caches that begin after this reach the server at `server.reached_at`, so much later."""
        self._waited = folder / "waited"
        self._programs = [distance(server.port, each_way_us)]
        server.reached_at = self._programs[0].port

    def watch(self, port: int) -> int:
        """A port that leads to the given one. The application connects to it, so that its waiting is measured."""
        self._programs.append(distance(port, 0, "--waited", str(self._waited)))
        return self._programs[-1].port

    def seconds(self) -> float:
        """The waiting time of all connections of the application, added up."""
        return int.from_bytes(self._waited.read_bytes(), "little") / 1e9

    def stop(self) -> None:
        for program in self._programs:
            program.stop()
