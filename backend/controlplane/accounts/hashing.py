"""Limits how many passwords are hashed at a time: each hash takes 100 MiB, and a core for a fifth of a second.

Further callers wait a little, without holding a database connection. If too many wait, or after a few seconds, a
request is refused with 429. This holds for everything that hashes: log-ins, new users and new passwords. Requests that
anybody may send wait before anything else is done for them, so a refused one costs nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher

from controlplane.core.connections import connection_give_back
from controlplane.core.errors import Busy

WAITING_PER_PLACE = 16
WAIT_SECONDS = 5.0
PLACES = threading.BoundedSemaphore(settings.HASHES_AT_ONCE)
QUEUE = threading.BoundedSemaphore(settings.HASHES_AT_ONCE * (1 + WAITING_PER_PLACE))
_is_in_queue: ContextVar[bool] = ContextVar("is_in_queue", default=False)


@contextmanager
def hashing_queue() -> Iterator[None]:
    if _is_in_queue.get():
        yield
        return
    if not QUEUE.acquire(blocking=False):
        raise _busy()
    before = _is_in_queue.set(True)
    try:
        yield
    finally:
        _is_in_queue.reset(before)
        QUEUE.release()


@contextmanager
def hashing_slot() -> Iterator[None]:
    with hashing_queue():
        connection_give_back()
        if not PLACES.acquire(timeout=WAIT_SECONDS):
            raise _busy()
        try:
            yield
        finally:
            PLACES.release()


def _busy() -> Busy:
    return Busy("Too many log-ins are being checked right now: wait a moment, then try again.")


class BoundedArgon2PasswordHasher(Argon2PasswordHasher):
    # Django's default of 8 threads would take the processors from everything else here; the total work is the same.
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with hashing_slot():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with hashing_slot():
            return super().verify(password, encoded)


class BoundedPBKDF2PasswordHasher(PBKDF2PasswordHasher):
    """Hashes with PBKDF2, under the same limit as Argon2 above.

    Its `verify` calls `encode`, so only `encode` takes a slot.
    """

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with hashing_slot():
            return super().encode(password, salt, iterations)
