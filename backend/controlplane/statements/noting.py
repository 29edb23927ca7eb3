"""Reads hourly what each server has counted per statement, from its engine or its performance schema.

Only a few servers are read at a time, so that polls do not wait long. A server that does not answer leaves no note.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from controlplane.core import clock
from controlplane.fleet.connection import limits
from controlplane.fleet.isolation import isolated
from controlplane.fleet.kept_connections import PROCESS, Connections, answered
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import endpoint_list
from controlplane.fleet.states import Duty
from controlplane.gateway.reports import DIGESTS, QUERIES
from controlplane.statements.counting import counts_of
from controlplane.statements.models import StatementNote

HOUR, KEPT_SECONDS = 3600, 8 * 24 * 3600
AT_A_TIME = 8
CONNECT_SECONDS, STATEMENT_SECONDS = 3, 5  # polls wait until this is over


class StatementRecorder:
    """Stores once an hour, for each instance, how often each statement was executed and answered by the cache (a
    `StatementNote`). It reads a few instances at a time. There is one recorder, in the process that polls the servers.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._hour = -1
        self._due: list[str] = []

    def note_if_due(self, now: float | None = None) -> None:
        now = clock.shared_time() if now is None else now
        if int(now // HOUR) != self._hour:
            self._begin(int(now // HOUR))
        ids, self._due = self._due[:AT_A_TIME], self._due[AT_A_TIME:]
        if ids:
            self._note(list(endpoint_list().filter(pk__in=ids)), int(now))

    def _begin(self, hour: int) -> None:
        self._hour = hour
        StatementNote.objects.filter(at__lt=hour * HOUR - KEPT_SECONDS).delete()
        noted = StatementNote.objects.filter(at__gte=hour * HOUR).values("instance")
        self._due = list(endpoint_list().exclude(pk__in=noted).values_list("pk", flat=True))

    def _note(self, instances: list[Instance], at: int) -> None:
        within = replace(limits(), connect_seconds=CONNECT_SECONDS, statement_seconds=STATEMENT_SECONDS)
        asked = self._connections.in_time(instances)
        with_engine = [each for each in asked if each.minor_version is not None]
        without = [each for each in asked if each.minor_version is None]
        told = self._connections.rows_all(with_engine, within, f"SHOW FQC {QUERIES}")
        told |= self._connections.rows_all(without, within, DIGESTS)
        notes = {}
        with isolated(Duty.STATEMENTS) as work:
            for pk, rows in told.items():
                with work.on(pk):
                    notes[pk] = StatementNote(instance_id=pk, at=at, counts=counts_of(answered(rows)))
            work.together(notes, _keep)


def _keep(notes: Mapping[str, StatementNote]) -> None:
    StatementNote.objects.bulk_create(notes.values(), ignore_conflicts=True)


NOTING = StatementRecorder(PROCESS)
