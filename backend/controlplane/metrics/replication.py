"""How far replicas are behind their source.

Few servers replicate, and the status has more columns than the bulk queries of a poll can take. So servers that
replicate are queried in every round, and all others every few minutes, to notice that they have begun to. An account
that may not read the status is like a server that does not replicate: nothing is known of its lag.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING
from zlib import crc32

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.numbers import whole
from controlplane.gateway.product import replication_status
from controlplane.metrics.columns import LAG, STOPPED_CHANNELS
from controlplane.metrics.intervals import Numbers

if TYPE_CHECKING:
    from controlplane.fleet.kept_connections import Connections, Rows
    from controlplane.fleet.models import Instance
    from controlplane.gateway.server import Limits

MOST_SECONDS = 300.0  # between two queries of a server that does not replicate
_REFUSED: Rows = [{}]  # stands for the rows that the account may not read
_RUNNING = ("Slave_IO_Running", "Slave_SQL_Running", "Replica_IO_Running", "Replica_SQL_Running")
_BEHIND = ("Seconds_Behind_Master", "Seconds_Behind_Source")


class Replication:
    """Remembers which servers replicate, in the one process that polls."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}  # when an instance that does not replicate is queried again
        self._refused: set[str] = set()  # instances whose account lacked the privilege

    def of(
        self, instances: Sequence[Instance], now: float, connections: Connections, limits: Limits
    ) -> dict[str, Numbers]:
        """Returns the columns of replication of each instance that replicates."""
        self._next = {each.pk: self._next[each.pk] for each in instances if each.pk in self._next}
        due = [each for each in instances if self._next.get(each.pk, now) <= now]
        for each in due:
            if each.pk in self._refused:
                connections.drop(each.pk)  # a GRANT counts from the next login on
        self._refused -= {each.pk for each in due}
        found: dict[str, Numbers] = {}
        for statement, alike in groupby(sorted(due, key=_statement), _statement):
            for pk, rows in connections.rows_all(list(alike), limits, statement, if_refused=_REFUSED).items():
                if isinstance(rows, GatewayError) or not rows or rows is _REFUSED:
                    self._next[pk] = now + _pause(pk)
                    self._refused |= {pk} if rows is _REFUSED else set()
                else:
                    self._next.pop(pk, None)
                    found[pk] = lag_of(rows)
        return found


PROCESS_REPLICATION = Replication()


def _pause(instance_id: str) -> float:
    """Returns how long a server that does not replicate is left alone: from half to all of the longest pause, the same
    for an instance each time. So the servers of a large fleet are queried in different rounds.
    """
    return MOST_SECONDS * (0.5 + crc32(instance_id.encode()) / 2**33)


def _statement(instance: Instance) -> str:
    return replication_status(instance.engine_version)


def lag_of(channels: Rows) -> Numbers:
    """Returns the greatest lag of all channels, and how many channels are stopped or cannot reach their source.

    The lag is None if no channel states one, as while all are stopped.
    """
    lags = [lag for lag in (whole(_first(channel, _BEHIND)) for channel in channels) if lag is not None]
    stopped = sum(any(channel.get(name, "Yes") != "Yes" for name in _RUNNING) for channel in channels)
    return {LAG: max(lags, default=None), STOPPED_CHANNELS: stopped}


def _first(row: Mapping[str, str | None], names: Iterable[str]) -> str | None:
    return next((row[name] for name in names if name in row), None)
