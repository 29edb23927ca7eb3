"""Open connections to polled servers, kept between rounds: connecting costs ten times as much as a query.

There is one set per process. A connection is opened again if the instance's address or account changed, and closed
after any failure. Open connections are queried together on this thread; opening one blocks until the server answers, so
it takes a thread.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import structlog

from controlplane.fleet.connection import address_of
from controlplane.fleet.models import Instance
from controlplane.fleet.skipped_instances import SkippedInstances
from controlplane.gateway import bulk
from controlplane.gateway.errors import GatewayError, NotUsable, PrivilegeMissing, Unreachable
from controlplane.gateway.name_values import Values
from controlplane.gateway.server import Limits, Server, open_server

Key = tuple[str, int, str, str, bool, str, str]
Outcome = bulk.Answer | GatewayError
T = TypeVar("T")
Rows = list[dict[str, str | None]]
MOST_THREADS = 256  # most of them wait for servers that do not answer
ANSWER_BYTES = 4 * 1024**2  # memory for one answer of names and values; many servers may answer at once

log = structlog.get_logger(__name__)


class Connections:
    """The open connections to polled servers, by instance id.

    Thread-safe as long as no two threads work on the same instance.
    """

    def __init__(self) -> None:
        self._open: dict[str, tuple[Key, Server]] = {}
        self.skipped_instances = SkippedInstances()

    def _get(self, instance: Instance, limits: Limits, until: float) -> Server:
        key, (kept_key, server) = _key(instance), self._open.get(instance.pk, (None, None))
        if server is not None and key == kept_key:
            return server
        self.drop(instance.pk)
        server = open_server(address_of(instance), replace(limits, answer_bytes=ANSWER_BYTES))
        self._open[instance.pk] = (key, server)
        server.until = until
        server.stay_uncounted()
        return server

    def ask_all(
        self, instances: Sequence[Instance], limits: Limits, statements_of: Callable[[Instance], list[str]]
    ) -> dict[str, Outcome]:
        """Sends each instance the statements that `statements_of` returns for it, and blocks until all have answered.

        Each statement must answer with rows of names and values. Returns by instance id the answer, or the error.
        Connections are opened where needed, and closed after an error.
        """
        found: dict[str, Outcome] = {}
        questions = {}
        for each in instances:
            question = self._outcome(each, lambda each: self._question(each, statements_of))
            if isinstance(question, GatewayError):
                found[each.pk] = question
            elif question is not None:
                questions[each.pk] = question
        by_id = {each.pk: each for each in instances}
        for instance_id, answer in bulk.ask_all(questions, limits.statement_seconds).items():
            found[instance_id] = answer or self._late(by_id[instance_id])
        for instance_id in questions.keys() - _with_answers(found):
            self.drop(instance_id)
        left = [each for each in instances if each.pk not in found]
        return found | self._each(left, lambda each: self._answer(each, limits, statements_of(each)))

    def rows_all(
        self, instances: Sequence[Instance], limits: Limits, statement: str, *, if_refused: Rows | None = None
    ) -> dict[str, Rows | GatewayError]:
        """Sends one statement, whose rows may have any columns, to each of a few instances.

        Returns by instance id the rows, as mappings from column to value, or the error. With `if_refused`, a missing
        privilege is no error: these rows are returned, and the connection is kept.
        """
        return self._each(instances, lambda each: self._rows(each, limits, statement, if_refused))

    def _each(self, instances: Sequence[Instance], ask: Callable[[Instance], T]) -> dict[str, T | GatewayError]:
        with ThreadPoolExecutor(min(MOST_THREADS, len(instances) or 1), "ask") as threads:
            outcomes = threads.map(lambda each: self._outcome(each, ask), instances)
            return {each.pk: outcome for each, outcome in zip(instances, outcomes, strict=True)}

    def _question(self, instance: Instance, statements_of: Callable[[Instance], list[str]]) -> bulk.Question | None:
        key, server = self._open.get(instance.pk, (None, None))
        sock = server.plain_socket if server is not None and key == _key(instance) else None
        return bulk.Question(sock, statements_of(instance)) if sock is not None else None

    def _outcome(self, instance: Instance, ask: Callable[[Instance], T]) -> T | GatewayError:
        try:
            return ask(instance)
        except GatewayError as error:
            if error.is_late:
                self.skipped_instances.note(instance.pk)
            return error
        except Exception as error:
            # Anything may listen at that address. One instance must not break the round.
            log.exception("ask_failed", instance=instance.pk)
            self.drop(instance.pk)
            return NotUsable(f"{instance.host}:{instance.port}: {type(error).__name__}; see the log.")

    def _late(self, instance: Instance) -> GatewayError:
        self.skipped_instances.note(instance.pk)
        return Unreachable(f"{instance.host}:{instance.port}: the answer did not arrive in time.")

    def _answer(self, instance: Instance, limits: Limits, statements: list[str]) -> bulk.Answer:
        return bulk.Answer(time.time(), self.ask(instance, limits, statements))

    def _rows(self, instance: Instance, limits: Limits, statement: str, if_refused: Rows | None) -> Rows:
        with self._conversation(instance, limits) as server:
            try:
                return server.named_rows(statement)
            except PrivilegeMissing:
                if if_refused is None:
                    raise
                return if_refused

    def ask(self, instance: Instance, limits: Limits, statements: list[str]) -> list[Values]:
        """Sends the statements to one instance and returns the name-value rows of each.

        If the server has closed the kept connection, it is opened again once. Raises GatewayError.
        """
        was_kept = instance.pk in self._open
        try:
            return self._ask(instance, limits, statements)
        except GatewayError as error:
            if error.is_permanent or error.is_late or not was_kept:
                raise
        return self._ask(instance, limits, statements)

    def _ask(self, instance: Instance, limits: Limits, statements: list[str]) -> list[Values]:
        with self._conversation(instance, limits) as server:
            return [server.name_values(statement) for statement in statements]

    @contextmanager
    def _conversation(self, instance: Instance, limits: Limits) -> Iterator[Server]:
        """Yields the open connection to an instance, and closes it after a GatewayError.

        The time limit includes opening it, because many other instances wait for this thread.
        """
        opening = 0 if instance.pk in self._open else limits.connect_seconds
        until = time.monotonic() + opening + limits.statement_seconds
        try:
            server = self._get(instance, limits, until)
            server.until = until
            yield server
        except GatewayError:
            self.drop(instance.pk)
            raise

    def drop_closed(self) -> set[str]:
        """Closes the kept connections that their servers have closed, and returns the ids of those instances.

        A server that ends closes its connections, so this notices it without a query. Does not block.
        """
        kept = {server.file_number: instance_id for instance_id, (_, server) in list(self._open.items())}
        poll = select.poll()
        for file_number in kept.keys() - {-1}:
            poll.register(file_number, select.POLLRDHUP)
        closed = {kept[file_number] for file_number, _ in poll.poll(0)}
        for instance_id in closed:
            self.drop(instance_id)
        return closed

    def drop(self, instance_id: str) -> None:
        _, server = self._open.pop(instance_id, (None, None))
        if server is not None:
            server.close()

    def in_time(self, instances: Iterable[Instance]) -> list[Instance]:
        """Returns the instances without those that are skipped for a while because their answers came too late."""
        return [each for each in instances if not self.skipped_instances.is_out(each.pk)]

    def keep_only(self, instance_ids: Collection[str]) -> None:
        for instance_id in set(self._open) - set(instance_ids):
            self.drop(instance_id)

    def __len__(self) -> int:
        return len(self._open)


PROCESS = Connections()  # shared by polls and watches, in the one process that looks at the servers


def answered(outcome: T | GatewayError) -> T:
    """Returns the outcome if it is an answer, and raises it if it is an error."""
    if isinstance(outcome, GatewayError):
        raise outcome
    return outcome


def _with_answers(found: Mapping[str, Outcome]) -> set[str]:
    return {instance_id for instance_id, outcome in found.items() if not isinstance(outcome, GatewayError)}


def _key(instance: Instance) -> Key:
    return (
        instance.host,
        instance.port,
        instance.username,
        instance.password_sealed,
        instance.is_tls_required,
        instance.tls_ca,
        instance.public_key,
    )
