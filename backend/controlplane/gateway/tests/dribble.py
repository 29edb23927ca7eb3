"""A real server whose answers come byte by byte."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from testing.wire import DribblingProxy

NEVER = b"nothing that is ever sent"


@contextmanager
def dribbling(port: int, marker: bytes = NEVER, pause_seconds: float = 0.05) -> Iterator[DribblingProxy]:
    proxy = DribblingProxy(port, marker, pause_seconds)
    try:
        yield proxy
    finally:
        proxy.close()
