"""A trial in one session: the same statement without the cache, then with it, before anything global changes.

The sessions are read-only and are closed afterwards. Each half has its own session, since an engine that no session
uses only follows sessions that start with the cache on. The second session reads nothing else, since its reads are
counted. Hits are the session's own: the engine keeps a trial's results apart from others, reports a connection's own
reads to it alone, and lends a trial memory while query_cache_size is 0. An engine too old for that counts all sessions
together, and counts nothing without memory; the trial then reports this.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from statistics import median
from time import monotonic, perf_counter_ns, sleep
from typing import Any

from django.db import transaction

from controlplane.accounts.roles import covers
from controlplane.audit.services import audit_record
from controlplane.core.errors import Conflict, Denied
from controlplane.fleet.connection import address_of, connected
from controlplane.fleet.models import Instance
from controlplane.gateway import reports
from controlplane.gateway.errors import RefusedStatement
from controlplane.gateway.local_accounts import COUNTING_ROLE, Use
from controlplane.gateway.numbers import whole
from controlplane.gateway.product import PRODUCTS, TimeLimit
from controlplane.gateway.server import Server
from controlplane.prerequisites.status import report
from controlplane.prerequisites.trial_account import trial_account_check
from controlplane.prerequisites.trial_errors import without_server_text
from controlplane.prerequisites.trial_statement import statement_check
from controlplane.settings.selectors import settings_get

COUNTED = tuple(reports.OWN_COUNTS)
# An engine that resumes first waits for running transactions whose start it did not see. Then it reads the tables'
# definitions and allocates memory.
WAKING_SECONDS = 10.0
PAUSE_SECONDS = 0.02
# A result may not be stored before its tables' definitions have been read.
SETTLING_SECONDS = 2.0
KEPT_CHARACTERS = 4000  # the part of a statement that the audit event keeps


@dataclass(frozen=True)
class Counts:
    hits: int
    inserts: int
    not_cached: int
    is_shared: bool
    reason: str = ""  # why the session's last read was not cached, as the engine's code; empty if it was

    @property
    def is_final(self) -> bool:
        """True if the last read was not cached for a reason that does not pass with time: repeating it is useless."""
        return self.reason not in {"", *reports.PASSING_REASONS}


def trial_allow(role: str | None) -> None:
    """Raises Denied unless the role may run trials, that is, statements of a user to try the cache with; None is no
    role.

    A trial reveals data bit by bit: by times, counts, and whether a statement fails.
    """
    wanted = settings_get().trial_role
    if role is None or not covers(role, wanted):
        raise Denied(f"Trials require the role {wanted} here; an administrator can change that in the settings.")


def trial_run(instance: Instance, *, statement: str, repetitions: int, database: str | None = None) -> dict[str, Any]:
    statement_check(statement)
    _note(instance, statement, database)
    with connected(instance, Use.TRIAL) as server:
        if server.variable("fqc_minor_version") is None:
            raise Conflict(f"{instance.name} has no engine: install it first.", code="minor_version")
        trial_account_check(server, instance.name, address_of(instance, Use.TRIAL).username)
        can_lend = server.variable("fqc_trial") is not None
        size = whole(server.variable("query_cache_size")) or 0
        limit = _time_limit(server)
        _prepare(server, database, limit)
        uncached = _timed(server, statement, repetitions)
    with connected(instance, Use.TRIAL, is_counted=True) as server:
        server.set_session("query_cache_type", 1)
        if can_lend:
            server.set_session("fqc_trial", 1)
        _prepare(server, database, limit)
        before = _awake(server, statement, has_memory=can_lend or size > 0)
        cached = _timed(server, statement, repetitions)
        after, delta = _settled(server, before, repetitions)
        reason = after.reason if delta["not_cached"] else ""
        explanation = _meaning(server, reason)
    return {
        "repetitions": repetitions,
        **delta,
        "uncached": uncached,
        "cached": cached,
        "is_counting_shared": after.is_shared,
        "is_memory_lent": can_lend and size == 0,
        "reason": reason,
        "detail": _verdict(delta, repetitions, size, can_lend=can_lend, explanation=explanation),
    }


@transaction.atomic
def _note(instance: Instance, statement: str, database: str | None) -> None:
    """Writes the audit event before the trial runs.

    A trial alters nothing, but runs a user's statement under the control plane's account.
    """
    facts: dict[str, Any] = {"statement": statement[:KEPT_CHARACTERS], "database": database}
    if len(statement) > KEPT_CHARACTERS:
        whole = hashlib.sha256(statement.encode()).hexdigest()
        facts |= {"statement_characters": len(statement), "statement_sha256": whole}
    audit_record("instance.cache_tried", instance, after=facts)


def _time_limit(server: Server) -> TimeLimit | None:
    """Returns the variable that limits statement times on this server, or None if it has none.

    The server is asked for it, because its version string can be configured and may name another product.
    """
    limits = (product.time_limit for product in PRODUCTS)
    return next((limit for limit in limits if server.variable(limit.name) is not None), None)


def _prepare(server: Server, database: str | None, limit: TimeLimit | None) -> None:
    server.run("SET ROLE NONE")
    if database:
        with without_server_text(server.place):
            server.use(database)
    server.run("SET SESSION TRANSACTION READ ONLY")
    if limit:
        # The server ends a statement that takes too long; our own time limit would leave it running.
        milliseconds = int(server.statement_seconds * 900)
        server.set_session(limit.name, milliseconds if limit.is_in_milliseconds else f"{milliseconds / 1000:.3f}")


def _awake(server: Server, statement: str, *, has_memory: bool) -> Counts:
    """Runs the statement until it is a hit or clearly will not be cached, for at most WAKING_SECONDS, so that the
    engine resumes if it was suspended.

    Returns the counts once they include all these reads: the engine may count a stored result a little later.
    """
    until, reads = monotonic() + WAKING_SECONDS, 0
    first = counts = _counts(server)
    while monotonic() < until and has_memory and not counts.is_final:
        _read(server, statement)
        reads += 1
        before, counts = counts, _counts(server)
        if counts.hits > before.hits:
            break
        sleep(PAUSE_SECONDS)
    return _settled(server, first, reads)[0]


def _settled(server: Server, before: Counts, repetitions: int) -> tuple[Counts, dict[str, int]]:
    """Reads the counts until they have grown by `repetitions` since `before`, for at most SETTLING_SECONDS.

    Returns the last counts, and by how much each grew.
    """
    until = monotonic() + SETTLING_SECONDS
    while True:
        after = _counts(server)
        delta = {name: getattr(after, name) - getattr(before, name) for name in COUNTED}
        if sum(delta.values()) >= repetitions or monotonic() >= until:
            return after, delta
        sleep(PAUSE_SECONDS)


def _read(server: Server, statement: str) -> None:
    with without_server_text(server.place):
        server.skip(statement)


def _timed(server: Server, statement: str, repetitions: int) -> dict[str, int]:
    taken = []
    for _ in range(repetitions):
        start = perf_counter_ns()
        _read(server, statement)
        taken.append((perf_counter_ns() - start) // 1000)
    taken.sort()
    return {"median_microseconds": int(median(taken)), "p95_microseconds": taken[(len(taken) * 95 - 1) // 100]}


def _counts(server: Server) -> Counts:
    """Returns the counts of this session.

    An engine that does not count sessions separately returns those of all sessions, marked as `is_shared`.
    """
    told = _report(server, reports.STATUS, reports.ITEM, reports.VALUE)
    own = [told.get(item) for item in reports.OWN_COUNTS.values()]
    if None not in own:
        reason = told.get(reports.WHY_NOT_CACHED) or ""
        hits, inserts, not_cached = (whole(number) or 0 for number in own)
        return Counts(hits, inserts, not_cached, is_shared=False, reason=reason)
    status = server.status("Qcache%")
    hits, inserts, not_cached = (whole(status.get(f"Qcache_{name}")) or 0 for name in COUNTED)
    return Counts(hits, inserts, not_cached, is_shared=True)


def _meaning(server: Server, reason: str) -> str:
    return _report(server, reports.REASONS, reports.REASON, reports.MEANING).get(reason) or "" if reason else ""


def _report(server: Server, topic: str, key: str, value: str) -> dict[str, str | None]:
    """Returns a report of the engine as a mapping from column `key` to column `value`; empty if there is none."""
    with _counting(server):
        return {row.get(key) or "": row.get(value) for row in report(server, topic).rows}


@contextmanager
def _counting(server: Server) -> Iterator[None]:
    """Enables the role with PROCESS while the block reads the counts, if the account has it.

    The tried statement must not have it, since it could read other sessions' statements.
    """
    with suppress(RefusedStatement):  # the account has no such role
        server.run(f"SET ROLE {COUNTING_ROLE}")
    yield
    server.run("SET ROLE NONE")


def _verdict(delta: dict[str, int], repetitions: int, size_bytes: int, *, can_lend: bool, explanation: str) -> str:
    if size_bytes == 0 and not can_lend:
        return (
            "query_cache_size is 0, so nothing could be kept. Upgrade the engine: a newer engine lends a trial "
            "memory. Or set query_cache_size and leave query_cache_type at 0: nothing is served to other sessions yet."
        )
    lent = " query_cache_size is 0: the engine lent memory to this session." if size_bytes == 0 else ""
    if delta["hits"] >= repetitions:
        return "All repetitions were served from the cache." + lent
    if delta["not_cached"] >= repetitions:
        why = f": {explanation.rstrip('.')}." if explanation else ": see the reasons in the cache's status."
        return "The engine does not cache this statement" + why
    return f"{delta['hits']} of {repetitions} repetitions were served from the cache." + lent
