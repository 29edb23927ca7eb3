"""A lock for rules over many rows or none: a transaction that takes a name waits until the last one with it has
committed.

PostgreSQL releases the lock with the transaction. SQLite needs no lock: a transaction there starts as the only writer
(`transaction_mode` in config/environment.py). Take it before any row's lock, so that there are no deadlocks.
"""

from __future__ import annotations

import hashlib

from django.db import connection


def one_at_a_time(name: str) -> None:
    if not connection.in_atomic_block:
        raise RuntimeError(f"{name}: outside a transaction the lock would be gone at once")
    if connection.vendor != "postgresql":
        return
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])
