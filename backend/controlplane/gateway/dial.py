"""A connection to one of several addresses, within a time that they share."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence


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
