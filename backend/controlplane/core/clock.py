"""The clock that all processes share: the database's. Leases and due times are set and compared by it.

A clock may be set back or forward at any moment. Code that waits for a time treats a time that no working clock could
have set as reached, or sets it again; see the callers. Call these as `clock.shared_now()`: tests make the clock jump.
"""

from __future__ import annotations

from datetime import datetime

from django.db import connection
from django.utils import timezone


def shared_now() -> datetime:
    if connection.vendor != "postgresql":
        return timezone.now()  # SQLite is on the machine of its processes
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now


def shared_time() -> float:
    """Returns the time of the database's clock, which all processes share, in epoch seconds."""
    return shared_now().timestamp()
