"""Detects drift, restarts and silence: every running instance is compared with its configuration.

Instances that do not run are checked in a lane of their own: each may take seconds to time out, and many of them must
not hold up the others.

After a restart a server gets its dynamic parameters again, by a change set. Drift that somebody caused is only stored.
Instances with a change set at work are skipped, and observations made while a change began or ended are dropped, since
the change stores the facts itself. Unchanged facts are not written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog
from django.db import transaction
from django.db.models import Q, prefetch_related_objects
from django.utils import timezone

from controlplane.catalogue.line import Line, rounding_parts
from controlplane.catalogue.selectors import described_engines, is_news
from controlplane.changes.plan import is_never
from controlplane.changes.planning import preview_wanted, situation_of
from controlplane.changes.services import AT_ONCE, change_request
from controlplane.changes.states import ENDED, Kind
from controlplane.core import clock
from controlplane.core.errors import Problem
from controlplane.core.periodic import periodic_claim, periodic_end
from controlplane.core.request_context import acting_as
from controlplane.fleet.connection import connected
from controlplane.fleet.connection import limits as usual_limits
from controlplane.fleet.definitions import instance_lines
from controlplane.fleet.isolation import DutyRound, isolated
from controlplane.fleet.kept_connections import PROCESS, Connections
from controlplane.fleet.local import accounts_ensure
from controlplane.fleet.models import Instance
from controlplane.fleet.observation import (
    IDENTITY_NAMES,
    STATUS_NAMES,
    Identity,
    clock_of,
    has_restarted,
    identity_of,
    learn_line,
    moved_parameters,
    note_identity,
    parameters_keep,
)
from controlplane.fleet.selectors import instance_list, server_line_id
from controlplane.fleet.services import instance_publish, instance_state_set
from controlplane.fleet.states import Duty, Provider, State
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.name_values import Values
from controlplane.gateway.names import ENGINE_NAMES
from controlplane.gateway.server import quoted

log = structlog.get_logger(__name__)
WORK, SILENT_WORK = "watch", "watch_silent"
EVERY_SECONDS, SILENT_EVERY_SECONDS, LEASE_SECONDS = 15.0, 5.0, 120.0
CONNECT_SECONDS, STATEMENT_SECONDS = 3, 5
LEARN_SECONDS = 10.0  # per server, since the others wait for it
WRITE_BATCH = 5000
MOST_ASKED = 3  # servers that are asked for the definitions of one line in a round
SILENT_BATCH = 640  # a batch that ends well within the lease even if every server times out
# An external instance that could not be reached when it was registered may answer later.
SILENT = Q(state__in=(State.UNREACHABLE, State.STOPPED)) | Q(state=State.FAILED, provider=Provider.EXTERNAL)


@dataclass(frozen=True)
class ServerSnapshot:
    """What one server answered in a round: its identity, and its running values by variable."""

    identity: Identity
    running: dict[str, str]


def watch_if_due() -> None:
    watch_closed()
    _if_due(WORK, watch, EVERY_SECONDS)


def watch_silent_if_due() -> None:
    _if_due(SILENT_WORK, watch_silent, SILENT_EVERY_SECONDS)


def _if_due(name: str, work: Callable[[], None], every_seconds: float) -> None:
    now = clock.shared_time()
    if periodic_claim(name, now, LEASE_SECONDS):
        try:
            work()
        finally:
            periodic_end(name, now + every_seconds)


def watch_closed(connections: Connections = PROCESS) -> None:
    """Looks at once at the running instances whose servers have closed the kept connection, since they may have ended.

    The new connections are not kept. A server that closes idle connections soon is thus looked at early only once
    between two rounds.
    """
    closed = connections.drop_closed()
    if not closed:
        return
    own = Connections()
    with isolated(Duty.WATCH) as work:
        _look(list(instance_list().filter(state=State.RUNNING, pk__in=closed)), own, work)
    own.keep_only(())


def watch(connections: Connections = PROCESS) -> None:
    instances = list(instance_list().filter(state=State.RUNNING))
    connections.keep_only({instance.pk for instance in instances})
    with isolated(Duty.WATCH) as work:
        for instance in instances:
            _ensure_accounts(instance, work)
        _look(instances, connections, work)


def _ensure_accounts(instance: Instance, work: DutyRound) -> None:
    with work.on(instance.pk):
        try:
            accounts_ensure(instance)
        except Problem as error:
            log.warning("accounts_not_created", instance=instance.pk, code=error.code, detail=error.detail)


def watch_silent() -> None:
    waiting = list(Instance.objects.filter(SILENT).values_list("pk", flat=True))
    for first in range(0, len(waiting), SILENT_BATCH):
        periodic_end(SILENT_WORK, clock.shared_time() + LEASE_SECONDS)  # each batch renews the lease
        connections = Connections()
        # Queried again, since some may be running by now.
        instances = list(instance_list().filter(SILENT, pk__in=waiting[first : first + SILENT_BATCH]))
        with isolated(Duty.WATCH) as work:
            _look(instances, connections, work)
        _missed_again(instances)
        connections.keep_only(())


def _missed_again(instances: list[Instance]) -> None:
    """Stores for each of these instances that has not answered this probe either that it has missed a second one, and
    when, unless that is stored already. Must be called after unreachable instances were probed again.
    """
    silent = [instance.pk for instance in instances if instance.state == State.UNREACHABLE]
    missed = Instance.objects.filter(pk__in=silent, state=State.UNREACHABLE, missed_again_at=None)
    missed.update(missed_again_at=clock.shared_now())


def _look(instances: list[Instance], connections: Connections, work: DutyRound) -> None:
    if not instances:
        return
    prefetch_related_objects(instances, "parameters")
    limits = replace(usual_limits(), connect_seconds=CONNECT_SECONDS, statement_seconds=STATEMENT_SECONDS)
    found = connections.ask_all(instances, limits, _statements)
    answered = [instance_id for instance_id, outcome in found.items() if not isinstance(outcome, GatewayError)]
    _seen(answered)
    lines = instance_lines(instances)  # one query for all
    with acting_as("system"):
        for instance in instances:
            outcome = found[instance.pk]
            with work.on(instance.pk):
                if isinstance(outcome, GatewayError):
                    _note_silence(instance, outcome)
                else:
                    _note(instance, _sighting(*outcome.values), lines[instance.pk])
        _learn_lines(instances, work)


def _seen(instance_ids: list[str]) -> None:
    now = timezone.now()
    for first in range(0, len(instance_ids), WRITE_BATCH):
        batch = instance_ids[first : first + WRITE_BATCH]
        Instance.objects.filter(pk__in=batch).update(last_seen_at=now)


def _statements(instance: Instance) -> list[str]:
    configured = [row.name for row in instance.parameters.all()]
    names = {ENGINE_NAMES.get(name, name) for name in configured} | set(configured) | set(IDENTITY_NAMES)
    names |= rounding_parts()
    wanted = ", ".join(f"'{quoted(name)[1:-1]}'" for name in sorted(names))
    return [
        f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({wanted})",
        "SELECT 'clock', UNIX_TIMESTAMP()",
        f"SHOW GLOBAL STATUS WHERE Variable_name IN {STATUS_NAMES}",
    ]


def _sighting(variables: Values, clocks: Values, status: Values) -> ServerSnapshot:
    running = variables | {name: variables[own] for name, own in ENGINE_NAMES.items() if own in variables}
    return ServerSnapshot(identity_of(variables, status, clock_of(clocks.get("clock"))), running)


def _note(instance: Instance, sighting: ServerSnapshot, line: Line) -> None:
    was_running = instance.state == State.RUNNING
    is_new_start = has_restarted(instance, sighting.identity)
    moved = moved_parameters(instance, line, sighting.running, has_restarted=is_new_start)
    facts = sighting.identity.facts
    if was_running and not is_new_start and not moved and all(getattr(instance, key) == facts[key] for key in facts):
        return
    with transaction.atomic():
        if not _is_as_loaded(instance):
            return
        if not was_running:
            instance_state_set(instance, State.RUNNING)
        note_identity(instance, sighting.identity)
        parameters_keep(moved)
        if moved:
            instance_publish(instance)
    if is_new_start:
        _answer_restart(instance, sighting.identity)


def _answer_restart(instance: Instance, identity: Identity) -> None:
    """Sets the parameters again that the server lost by its restart.

    The new start is stored last, so that a crash before leaves the restart to the next watch.
    """
    drifted = [row.name for row in instance.parameters.all() if row.is_drifted]
    if drifted and not repush(instance, drifted):
        return
    with transaction.atomic():
        if _is_as_loaded(instance):
            note_identity(instance, identity, is_new_start=True)


def _note_silence(instance: Instance, error: GatewayError) -> None:
    if instance.state != State.RUNNING:
        return
    with transaction.atomic():
        if _is_as_loaded(instance):
            instance_state_set(instance, State.UNREACHABLE, error.detail)


def _is_as_loaded(instance: Instance) -> bool:
    """Returns whether no change began or ended on the instance since `instance` was read.

    Locks the row, so that none does until the transaction ends.
    """
    same = Instance.objects.select_for_update().filter(pk=instance.pk, version=instance.version, state=instance.state)
    return same.values_list("pk", flat=True).first() is not None


def _learn_lines(instances: list[Instance], work: DutyRound) -> None:
    """Reads the definitions of each line (product and release) that is unknown, or known without such an engine, from
    the first trusted server of that line that can describe it.

    Servers with the newest engine are asked first.
    """
    sources = [each for each in instances if each.describes_line and each.state == State.RUNNING]
    by_line: dict[str, list[Instance]] = {}
    for each in sorted(sources, key=lambda source: source.minor_version or 0, reverse=True):
        by_line.setdefault(server_line_id(each.engine_version), []).append(each)
    described = described_engines(by_line)
    for line in by_line.keys() - {""}:
        news = [each for each in by_line[line] if is_news(line, each.minor_version, described)]
        any(_learn(each, work) for each in news[:MOST_ASKED])


def _learn(instance: Instance, work: DutyRound) -> bool:
    with work.on(instance.pk), connected(instance, seconds=LEARN_SECONDS) as server:
        return learn_line(instance, server, server.value("SELECT @@version"), instance.minor_version)
    return False


def repush(instance: Instance, names: list[str]) -> bool:
    """Makes a change set that sets these parameters again, after the server lost them by its restart.

    Returns false only if another change is at work; the next watch then tries again. If the change set is refused for
    another reason, that is logged, and the parameters are left as drift.
    """
    if instance.changes.filter(kind=Kind.REPUSH).exclude(state__in=ENDED).exists():
        return True
    situation = situation_of(instance)
    wanted = [name for name in names if not is_never(situation.line, name)]
    submitted = {name: text for name, text in situation.configured.items() if name in wanted}
    if not submitted:
        return True
    try:
        preview = preview_wanted(instance, situation, submitted, allow_restart=False)
        change_request(instance, Kind.REPUSH, preview, **AT_ONCE, note="the server was restarted")
    except Problem as error:
        log.warning("repush_refused", instance=instance.pk, code=error.code, detail=error.detail)
        return error.code != "change_at_work"
    return True
