"""Sends statements to many open connections at once, on one thread: this determines the cost of a round over ten
thousand servers.

PyMySQL waits for one server at a time, and builds objects that a round does not need. Here statements that answer with
names and values (SHOW VARIABLES, SHOW STATUS) are written to PyMySQL's sockets and read from them directly. Between
rounds the connections are used by PyMySQL again. A server with an unexpected answer is missing in the result, and one
that is late has None: such a connection is in an unknown state and must be closed.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from controlplane.gateway.name_values import AnswerReader, NotNameValues, Values, query_packet

AT_ONCE = 512
CHUNK_BYTES = 65536
LOOK_EVERY_SECONDS = 0.5  # interval of the check for overdue answers

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Question:
    sock: socket.socket
    statements: Sequence[str]


@dataclass(frozen=True)
class Answer:
    at: float  # when the last answer had arrived, in epoch seconds
    values: Sequence[Values]  # for each statement, the values by name


def ask_all(asked: Mapping[str, Question], seconds: float) -> dict[str, Answer | None]:
    """Sends each connection its statements, blocks until all have answered, and returns the answers by the same keys.

    None: the answers of this connection together took longer than `seconds`. Missing: its answer was unexpected, or it
    broke. The caller must close the connections with None and the missing ones, since their state is unknown.
    """
    with selectors.DefaultSelector() as selector:
        return _Round(asked, seconds, selector).run()


@dataclass(eq=False)
class _Exchange:
    """One connection of the round: the statements that it is asked, and the answers that have arrived so far."""

    key: str
    sock: socket.socket
    statements: Sequence[str]
    timeout: float | None  # the socket's own timeout, which is restored at the end
    deadline: float  # for all statements together, on the monotonic clock
    reader: AnswerReader = field(default_factory=AnswerReader)
    answers: list[Values] = field(default_factory=list)


class _Round:
    def __init__(self, asked: Mapping[str, Question], seconds: float, selector: selectors.BaseSelector) -> None:
        self.seconds, self.selector = seconds, selector
        self.waiting = deque(asked.items())
        self.at_work: set[_Exchange] = set()
        self.found: dict[str, Answer | None] = {}
        self.looked_at = time.monotonic()

    def run(self) -> dict[str, Answer | None]:
        while self.waiting or self.at_work:
            while self.waiting and len(self.at_work) < AT_ONCE:
                self._begin(*self.waiting.popleft())
            for ready, _ in self.selector.select(LOOK_EVERY_SECONDS):
                self._receive(ready.data)
            self._give_up_overdue()
        return self.found

    def _begin(self, key: str, question: Question) -> None:
        deadline = time.monotonic() + self.seconds
        exchange = _Exchange(key, question.sock, question.statements, question.sock.gettimeout(), deadline)
        exchange.sock.setblocking(False)
        self.selector.register(exchange.sock, selectors.EVENT_READ, exchange)
        self.at_work.add(exchange)
        try:
            self._ask(exchange)
        except OSError:
            self._end(exchange)

    def _ask(self, exchange: _Exchange) -> None:
        exchange.sock.sendall(query_packet(exchange.statements[len(exchange.answers)]))

    def _receive(self, exchange: _Exchange) -> None:
        try:
            values = exchange.reader.read(exchange.sock.recv(CHUNK_BYTES))
            if values is None:
                return
            exchange.answers.append(values)
            if len(exchange.answers) < len(exchange.statements):
                self._ask(exchange)
                return
            self.found[exchange.key] = Answer(time.time(), exchange.answers)
        except BlockingIOError:
            return
        except (OSError, NotNameValues, IndexError):  # IndexError: the data is not MySQL's protocol
            pass
        except Exception:  # an unforeseen error must not cost the others their answers
            log.exception("answer_not_read", instance=exchange.key)
        self._end(exchange)

    def _give_up_overdue(self) -> None:
        """Records None for connections whose deadline has passed, and stops reading them; looks at most every
        LOOK_EVERY_SECONDS.

        Arrived answers must have been read before, since this process may have been the slow one.
        """
        now = time.monotonic()
        if now - self.looked_at >= LOOK_EVERY_SECONDS:
            self.looked_at = now
            for exchange in [each for each in self.at_work if each.deadline < now]:
                self.found[exchange.key] = None
                self._end(exchange)

    def _end(self, exchange: _Exchange) -> None:
        self.selector.unregister(exchange.sock)
        self.at_work.discard(exchange)
        exchange.sock.settimeout(exchange.timeout)
