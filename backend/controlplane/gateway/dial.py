"""A connection to one of several addresses, within a time that they share."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Timer


def dial(addresses: Sequence[str], port: int, until: float) -> socket.socket:
    """To the first that takes it; raises what the last one failed with. `until`: by the clock that only counts."""
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
    """A socket's timeout begins anew with every byte that arrives: this ends the whole, whoever waits for more."""
    line = sock.dup()  # TLS takes the socket itself away
    timer = Timer(max(until - time.monotonic(), 0), _hang_up, [line])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        line.close()


def _hang_up(line: socket.socket) -> None:
    with suppress(OSError):  # it was closed at this moment
        line.shutdown(socket.SHUT_RDWR)
