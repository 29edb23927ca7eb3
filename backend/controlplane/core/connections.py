"""Database connections, which are shared by everything in a web process."""

from __future__ import annotations

from django.db import connection

from controlplane.core.request_slots import REQUEST_SLOT


def connection_give_back() -> None:
    """Gives up this thread's database connection, unless it is in a transaction, and the request's place among those
    that the process works on at a time.

    Call it before waiting for anything other than the database, so that others can use them; the next query gets a
    connection again.
    """
    if place := REQUEST_SLOT.get():
        place.give_back()
    if connection.settings_dict["OPTIONS"].get("pool") and not connection.in_atomic_block:
        connection.close()
