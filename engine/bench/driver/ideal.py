"""The ideal cache: a program that answers every read at once with the same row, by a thread for each connection.

It knows neither statements nor results, so nothing inside such a server can be faster while the load generator shares
its processors. It is measured like a configuration, but it is no server: it has no cache to fill and no settings.
"""

from __future__ import annotations

from driver.listening import PROGRAMS, Listening

NAME = "IDEAL"
PROGRAM = PROGRAMS / "ideal"


class Ideal(Listening):
    def __init__(self, *arguments: str) -> None:
        super().__init__(PROGRAM, *arguments)
        self.place = ("--mysql-host=127.0.0.1", f"--mysql-port={self.port}")

    def status(self, _pattern: str) -> dict[str, int]:
        """Returns no hits, since all reads are hits and they are not counted."""
        return {"Qcache_hits": 0}
