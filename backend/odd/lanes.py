"""The control plane's duties, one lane each: a round of the duty, and what the healthy server must have got by then."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any, ClassVar

from django.db import connection
from django.utils import timezone

from controlplane.changes import watch as watching
from controlplane.changes.observing import observations_end_due
from controlplane.changes.watch import watch, watch_silent
from controlplane.fleet.kept_connections import Connections
from controlplane.fleet.models import Instance, LookFault, Observation, PrivilegeLook
from controlplane.fleet.states import Duty, State
from controlplane.gateway.local_accounts import Use, account
from controlplane.metrics import polling, rollups, storage
from controlplane.metrics.models import FleetMinute, Sample, StorageLook
from controlplane.near_caches.models import NearCache
from controlplane.prerequisites.check import observe
from controlplane.prerequisites.privilege_looks import look_round
from controlplane.prerequisites.recommendation import counted
from controlplane.statements import noting
from controlplane.statements.models import StatementNote
from controlplane.statements.noting import HOUR, StatementRecorder
from odd.server import OddServer
from testing.near import FakeNearCache
from testing.servers import row_for
from testing.workers import until

STEP = 15
ROLLUP_EVERY = 8
PATIENCE_SECONDS = 120


@dataclass
class Fleet:
    healthy: Any  # the healthy server
    healthy_row: Instance
    odd: Sequence[OddServer]
    odd_rows: Sequence[Instance]
    victim: Any = None  # another healthy server, which is killed again and again
    victim_row: Instance | None = None

    def forget(self) -> None:
        Instance.objects.all().delete()

    @property
    def odd_ids(self) -> list[str]:
        return [row.pk for row in self.odd_rows]


@dataclass
class Figures:
    rounds: int = 0
    slowest_seconds: float = 0.0
    losses: list[str] = field(default_factory=list)
    faults_noted: set[tuple[str, str]] = field(default_factory=set)  # duty, and what failed


class Lane:
    name: ClassVar[str]
    duties: ClassVar[set[Duty]]
    looks: ClassVar[set[str]]  # the lookout's duties that this lane covers

    def __init__(self, fleet: Fleet, seed: int) -> None:
        self.fleet, self.random = fleet, Random(seed)
        self.connections = Connections()
        self.stack = ExitStack()
        self.at = int(time.time()) // STEP * STEP
        self.rounds = 0

    def begin(self) -> None:
        """Prepares the healthy server for this lane."""

    def round(self) -> None:
        raise NotImplementedError

    def lost(self) -> list[str]:
        """Lists what the healthy server should have got in this round and has not."""
        raise NotImplementedError

    def close(self) -> None:
        self.connections.keep_only(())
        self.stack.close()

    def step(self, figures: Figures) -> None:
        """Runs one round. All odd servers are queried again, even if they would be skipped."""
        states = [self.state_of_odd() for _ in self.fleet.odd_ids]
        for pk, state in zip(self.fleet.odd_ids, states, strict=True):
            Instance.objects.filter(pk=pk).update(state=state, minor_version=1)
        self.at += STEP
        self.rounds += 1
        begun = time.monotonic()
        try:
            self.round()
            figures.losses += [f"round {self.rounds}: {each}" for each in self.lost()]
        except Exception as error:
            figures.losses.append(f"round {self.rounds} ended with {type(error).__name__}: {error}"[:500])
            connection.close_if_unusable_or_obsolete()
        figures.rounds += 1
        figures.slowest_seconds = max(figures.slowest_seconds, time.monotonic() - begun)
        figures.faults_noted |= {(duty, said[-60:]) for duty, said in LookFault.objects.values_list("duty", "detail")}

    def state_of_odd(self) -> State:
        return State.RUNNING


class Polls(Lane):
    name, duties, looks = "polls", {Duty.POLL}, {"poll_if_due"}

    def round(self) -> None:
        polling.poll_round(self.at, self.connections)
        if self.rounds % ROLLUP_EVERY == 0:
            rollups.rollup(self.at)

    def lost(self) -> list[str]:
        sample = Sample.objects.filter(instance_id=self.fleet.healthy_row.pk, at=self.at).first()
        if sample is None:
            return ["no sample"]
        lost = [] if self.rounds == 1 or (sample.seconds > 0 and sample.questions > 0) else ["nothing was counted"]
        if self.rounds % ROLLUP_EVERY == 0 and not FleetMinute.objects.filter(at__gte=self.at - 180).exists():
            lost.append("no minute of the fleet was rolled up")
        return lost


class NearCaches(Lane):
    name, duties, looks = "near caches", {Duty.NEAR_CACHES}, set()

    def begin(self) -> None:
        self.server = self.fleet.healthy.connect()
        self.stack.callback(self.server.close)
        self.server.run("SET GLOBAL query_cache_size = 1048576")
        self.server.run("SET GLOBAL query_cache_type = ON")
        until(lambda: self.server.status("Fqc_awake") == {"Fqc_awake": "1"}, "the engine is awake")
        self.near = self.stack.enter_context(ExitStack())

    def round(self) -> None:
        self.before = self._attachments() or self._attach()
        self.begun = timezone.now()
        polling.poll_round(self.at, self.connections)

    def _attach(self) -> set[str]:
        """Attaches a near cache again, and returns the server's attachments then: the server detaches a near cache that
        renews late because this process was busy.
        """
        with suppress(OSError):
            self.near.close()
        self.near.enter_context(FakeNearCache(self.fleet.healthy, "shop-1"))
        return self._attachments()

    def _attachments(self) -> set[str]:
        return {row["Attachment"] or "" for row in self.server.named_rows("SHOW FQC NEAR")}

    def lost(self) -> list[str]:
        """Lists near caches that the server itself listed before and after the round, and the control plane did not."""
        found = NearCache.objects.filter(instance=self.fleet.healthy_row, is_attached=True, seen_at__gte=self.begun)
        noted = {str(number) for number in found.values_list("attachment", flat=True)}
        lost = (self.before & self._attachments()) - noted
        return [f"its near cache {number} was not listed" for number in lost]

    def close(self) -> None:
        with suppress(OSError):
            self.near.close()
        super().close()


class Watch(Lane):
    name, duties, looks = "watch", {Duty.WATCH}, {"watch_if_due", "watch_silent_if_due"}

    def state_of_odd(self) -> State:
        return self.random.choice([State.RUNNING, State.UNREACHABLE])

    def round(self) -> None:
        self.begun = timezone.now()
        self.found: list[str] = []
        self.fleet.victim.stop(force=True)
        watch(self.connections)
        self.found.append(self._state())
        self.fleet.victim.start()
        watch_silent()
        self.found.append(self._state())

    def _state(self) -> str:
        assert self.fleet.victim_row
        return Instance.objects.get(pk=self.fleet.victim_row.pk).state

    def lost(self) -> list[str]:
        healthy = Instance.objects.get(pk=self.fleet.healthy_row.pk)
        lost = []
        if self.found != [State.UNREACHABLE, State.RUNNING]:
            lost.append(f"a server that was killed and started again was seen as {' and '.join(self.found)}")
        if healthy.state != State.RUNNING or not healthy.last_seen_at or healthy.last_seen_at < self.begun:
            lost.append("the healthy one was not seen")
        return lost


class Statements(Lane):
    name, duties, looks = "statements", {Duty.STATEMENTS}, {"note_if_due"}

    def begin(self) -> None:
        self.noting = StatementRecorder(self.connections)

    def round(self) -> None:
        self.hour = (self.at // HOUR + self.rounds) * HOUR
        self.noting.note_if_due(self.hour)

    def lost(self) -> list[str]:
        found = StatementNote.objects.filter(instance=self.fleet.healthy_row, at=self.hour)
        return [] if found.exists() else ["its statements were not noted"]


class Privileges(Lane):
    name, duties, looks = "privileges", {Duty.PRIVILEGES}, {"look_at_privileges_if_due"}

    def round(self) -> None:
        self.begun = timezone.now()
        PrivilegeLook.objects.update(tried_at=self.begun - timedelta(days=1))
        look_round()

    def lost(self) -> list[str]:
        look = PrivilegeLook.objects.filter(instance=self.fleet.healthy_row, at__gte=self.begun)
        return [] if look.exists() else ["its privileges were not asked"]


class Observations(Lane):
    name, duties, looks = "observations", {Duty.OBSERVATIONS}, set()

    def begin(self) -> None:
        self.counted = counted(observe(self.fleet.healthy_row).status)

    def round(self) -> None:
        now = timezone.now()
        facts = {"started_at": now - timedelta(hours=1), "ends_at": now, "is_running": True, "result": None}
        for pk in [*self.fleet.odd_ids, self.fleet.healthy_row.pk]:
            Observation.objects.update_or_create(instance_id=pk, defaults={**facts, "counted_before": self.counted})
        observations_end_due()

    def lost(self) -> list[str]:
        found = Observation.objects.get(instance=self.fleet.healthy_row)
        return ["its observation was not ended"] if found.is_running else []


class StorageLooks(Lane):
    name, duties, looks = "storage", {Duty.STORAGE}, {"look_at_storage_if_due"}

    def round(self) -> None:
        StorageLook.objects.update(tried_at=0)
        self.now = time.time()
        storage.look_round(self.now)

    def lost(self) -> list[str]:
        look = StorageLook.objects.filter(instance=self.fleet.healthy_row, at__gte=int(self.now))
        return [] if look.exists() else ["its storage was not read"]


class Living(Lane):
    """Does what the lookout does with servers that answer, once per slot of `STEP` seconds as it does. Late answers of
    the strange servers must not make it miss a slot."""

    name, duties, looks = "living", set(), set()

    def begin(self) -> None:
        self.noting = StatementRecorder(self.connections)
        self.at = self._slot()

    def _slot(self) -> int:
        return int(time.time()) // STEP * STEP

    def round(self) -> None:
        while (slot := self._slot()) < self.at:
            time.sleep(0.1)
        self.missed, self.at = (slot - self.at) // STEP, slot
        polling.poll_round(slot, self.connections)
        watch(self.connections)
        self.noting.note_if_due()

    def lost(self) -> list[str]:
        lost = [f"{self.missed} slots had no round"] if self.missed else []
        found = Sample.objects.filter(instance_id=self.fleet.healthy_row.pk, at=self.at)
        return lost if found.exists() else [*lost, "no sample in its slot"]


LANES: Sequence[type[Lane]] = (Polls, NearCaches, Watch, Statements, Privileges, Observations, StorageLooks)
AT_ITS_PACE: Sequence[type[Lane]] = (Living,)


def be_patient() -> None:
    """Lengthens time limits: on a loaded machine a healthy server may be slow without having lost anything."""
    for module in (polling, watching, noting):
        module.CONNECT_SECONDS, module.STATEMENT_SECONDS = PATIENCE_SECONDS, PATIENCE_SECONDS


def register(healthy: Any, odd: Sequence[OddServer], victim: Any) -> Fleet:
    """Registers the servers as external instances."""
    made = [_row(row_for(server, provider="external"), server) for server in (healthy, victim)]
    strange = [_strange(number, server.port, made[0]) for number, server in enumerate(odd)]
    return Fleet(healthy, made[0], odd, strange, victim, made[1])


def _row(row: Instance, server: Any) -> Instance:
    row.username, row.password = account(Use.CHANGE, server.username, server.password)
    row.save()
    return row


def _strange(number: int, port: int, like: Instance) -> Instance:
    row = Instance(name=f"odd-{number}", provider="external", host="127.0.0.1", port=port, username="fqc")
    row.state, row.instance_class, row.password = State.RUNNING, like.instance_class, "whatever"
    row.save()
    row.parameters.create(name="max_connections", submitted="100", resolved="100", running="100")
    return row
