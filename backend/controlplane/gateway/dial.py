"""Connects to one of several addresses, within one time limit for all of them."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Timer


def dial(addresses: Sequence[str], port: int, until: float) -> socket.socket:
    """Returns a TCP connection to the first of the addresses that accepts, which the caller must close.

    `until` is the time on the monotonic clock at which the attempts end. Raises the OSError of the last address if none
    accepts.
    """
    failure = OSError("no address")
    for position, address in enumerate(addresses):
        left = max(until - time.monotonic(), 0.001)
        try:
            return socket.create_connection((address, port), left / (len(addresses) - position))
        except OSError as error:
            failure = error
    raise failure


@contextmanager
def ended_by(until: float, sock: socket.socket) -> Iterator[None]:
    """Shuts the socket down at `until`, a time on the monotonic clock, if the block is still running then: reading and
    writing in the block end.

    A socket's own timeout starts again with every byte that arrives, so it cannot limit the whole.
    """
    line = sock.dup()  # a duplicate, since TLS takes over the socket itself
    timer = Timer(max(until - time.monotonic(), 0), _hang_up, [line])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        line.close()


def _hang_up(line: socket.socket) -> None:
    with suppress(OSError):  # the socket was closed at the same moment
        line.shutdown(socket.SHUT_RDWR)
