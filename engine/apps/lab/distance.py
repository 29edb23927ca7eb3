"""Makes a server seem far away, and measures the time that an application waits for the database.

Between the server and the others stands a program that passes everything on later. Another one without a delay stands
next to the application, and adds up the time from each request to the last part of its response.
"""

from __future__ import annotations

from pathlib import Path

from driver.near import distance
from driver.server import Server


class Distance:
    def __init__(self, server: Server, folder: Path, each_way_us: int) -> None:
        """Starts the program with the delay. Clients and near caches that begin after this must connect to the port
        `server.reached_at`, which it sets."""
        self._waited = folder / "waited"
        self._programs = [distance(server.port, each_way_us)]
        server.reached_at = self._programs[0].port

    def watch(self, port: int) -> int:
        """Returns a port that leads to this one. The application has to connect there, so that its waiting is
        measured."""
        self._programs.append(distance(port, 0, "--waited", str(self._waited)))
        return self._programs[-1].port

    def seconds(self) -> float:
        """Returns the seconds that all connections through the watched port have waited for responses, added up."""
        return int.from_bytes(self._waited.read_bytes(), "little") / 1e9

    def stop(self) -> None:
        for program in self._programs:
            program.stop()
