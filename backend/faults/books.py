"""Compares the records when all work has ended: what clients were answered, the rows, the audit trail, what servers
were sent and what they run. Every field of `Books` but the first lists faults of the product, and none may remain
unexplained.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from faults.deployment import Deployment, ManagedServer
from faults.recording import SetStatement
from faults.work import NAMES, RequestLedger

# A worker that takes over may undo an undone step again, so the old value may be sent this many times.
UNDOINGS = 3


@dataclass
class Books:
    outcomes: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    made_twice: list[str] = field(default_factory=list)
    applied_twice: list[str] = field(default_factory=list)
    half_applied_unsaid: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    audit_mismatch: list[str] = field(default_factory=list)

    @property
    def faults(self) -> dict[str, list[str]]:
        return {name: found for name, found in vars(self).items() if name != "outcomes"}

    @property
    def are_right(self) -> bool:
        return not any(self.faults.values())


def unfinished() -> list[str]:
    """Returns changes that are approved or running, and fleet applies that are running."""
    from controlplane.changes.models import ChangeSet
    from controlplane.changes.states import ENDED, ChangeState
    from controlplane.rollouts.models import FleetApply
    from controlplane.rollouts.states import ApplyState

    changes = ChangeSet.objects.exclude(state__in=[*ENDED, ChangeState.PREVIEWED])
    applies = FleetApply.objects.filter(state=ApplyState.RUNNING)
    return [f"{row.pk} {row.state}" for row in [*changes, *applies]]


def compared(deployment: Deployment, told: RequestLedger) -> Books:
    from controlplane.changes.models import ChangeSet

    changes = list(ChangeSet.objects.prefetch_related("steps", "lines").order_by("finished_at"))
    books = Books(outcomes=Counter(f"{change.state} {change.outcome_code}".strip() for change in changes))
    books.stuck = unfinished()
    known = {change.pk for change in changes}
    books.lost = [f"{number}: {pk}" for number, pk in told.changes.items() if pk not in known]
    books.lost += _lost_applies(told)
    books.made_twice = _made_twice(changes)
    seen = _on_record()
    books.audit_mismatch = [fault for change in changes for fault in _audit_faults(change, seen[change.pk])]
    for managed in deployment.servers:
        own = [change for change in changes if change.instance_id == managed.instance_id]
        for name in NAMES:
            books.applied_twice += _sent_too_often(managed, name, own)
        books.half_applied_unsaid += _half_applied(managed, own)
    return books


def _lost_applies(told: RequestLedger) -> list[str]:
    from controlplane.rollouts.models import FleetApply

    known = set(FleetApply.objects.values_list("pk", flat=True))
    return [f"{number}: {pk}" for number, pk in told.fleet_applies.items() if pk not in known]


def _made_twice(changes: Iterable[Any]) -> list[str]:
    from controlplane.rollouts.models import FleetApply

    of_clients = [change.note for change in changes if change.note.isdigit() and change.kind == "parameters"]
    notes = Counter([*of_clients, *FleetApply.objects.values_list("note", flat=True)])
    return [f"{note} ({count} times)" for note, count in notes.items() if count > 1]


def _on_record() -> defaultdict[str, Counter[str]]:
    from controlplane.audit.models import AuditEvent

    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for target, action in AuditEvent.objects.values_list("target_id", "action"):
        seen[target][action] += 1
    return seen


def _audit_faults(change: Any, seen: Counter[str]) -> list[str]:
    ends = {action: seen[f"change.{action}"] for action in ("applied", "rolled_back", "failed", "aborted")}
    wanted = {action: int(change.state == action) for action in ends}
    faults = [f"{change.pk} is {change.state}, its ends on record are {ends}"] if ends != wanted else []
    if seen["change.previewed"] != 1 or seen["change.approved"] > 1:
        faults.append(f"{change.pk}: {dict(seen)}")
    return faults


def _sent_too_often(managed: ManagedServer, name: str, changes: list[Any]) -> list[str]:
    """Returns values that a server was sent more often than steps explain: once for every started step, and some more
    times for undone ones.
    """
    steps = [step for change in changes for step in change.steps.all() if step.name == name]
    sent = Counter(each.value for each in _of(managed, name))
    forward = Counter(step.new for step in steps if step.state != "pending")
    undone = Counter(step.old for step in steps if step.state in ("undone", "failed"))
    done = Counter(step.new for step in steps if step.state == "done")
    where = f"{managed.instance_id} {name}"
    too_often = [
        f"{where} = {value}: sent {count} times, {forward[value]} steps"
        for value, count in sent.items()
        if count > forward[value] + UNDOINGS * undone[value]
    ]
    return too_often + [f"{where} = {value}: done, never sent" for value in done if value not in sent]


def _of(managed: ManagedServer, name: str) -> list[SetStatement]:
    return [each for each in managed.proxy.noted if each.name == name]


def _half_applied(managed: ManagedServer, changes: list[Any]) -> list[str]:
    """Returns instances that do not run the last applied values, unless the last change failed and reported that."""
    server = managed.server.connect()
    running = {name: server.variable(name) for name in NAMES}
    server.close()
    begun = [change for change in changes if change.started_at is not None and change.state != "rolled_back"]
    if begun and begun[-1].state == "failed":
        return []  # it says so
    applied = [change for change in begun if change.state == "applied"]
    wanted: dict[str, str] = {}
    for change in applied:
        wanted |= {line.name: line.new_value for line in change.lines.all() if line.name in NAMES}
    off = {name: (running[name], value) for name, value in wanted.items() if running[name] != value}
    return [f"{managed.instance_id}: {off}, and no change says so"] if off else []


def quiet(is_quiet: Callable[[], bool], wait: Callable[[float], object], seconds: float) -> bool:
    """Waits until `is_quiet` holds for a while. Returns whether that happened within `seconds`."""
    calm = 0
    for _ in range(int(seconds)):
        calm = calm + 1 if is_quiet() else 0
        if calm >= 5:
            return True
        wait(1)
    return False
