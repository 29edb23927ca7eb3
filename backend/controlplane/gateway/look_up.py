"""Resolves a name within a time limit.

The system's resolver has no time limit and cannot be interrupted. So each lookup has a thread, which is abandoned when
the time is over. The number of abandoned threads is limited; if there are too many, a new lookup waits.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from concurrent.futures import Future

MOST_AT_ONCE = 64

_turns = threading.BoundedSemaphore(MOST_AT_ONCE)


def look_up(host: str, seconds: float) -> list[str]:
    """Returns the IP addresses of a host name, within `seconds`; an address is returned as it is.

    Raises OSError if the name does not resolve, and its subclass TimeoutError if that took too long.
    """
    if _is_address(host):
        return [host]
    until = time.monotonic() + seconds
    if not _turns.acquire(timeout=seconds):
        raise TimeoutError(f"{MOST_AT_ONCE} other names are being looked up for longer than {seconds:g} s")
    found: Future[list[str]] = Future()
    threading.Thread(target=_ask, args=(host, found), name=f"look up {host}", daemon=True).start()
    try:
        return found.result(max(until - time.monotonic(), 0))
    except TimeoutError as error:
        if found.done():
            raise  # the resolver's own error
        raise TimeoutError(f"no answer within {seconds:g} s") from error


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _ask(host: str, found: Future[list[str]]) -> None:
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        found.set_result(list(dict.fromkeys(str(entry[4][0]) for entry in entries)))
    except UnicodeError as error:
        found.set_exception(OSError(f"it cannot be a name: {error}"))
    except Exception as error:  # any error is passed on to the caller
        found.set_exception(error)
    finally:
        _turns.release()
