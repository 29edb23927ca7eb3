"""Database connections, which are shared by everything in a web process."""

from __future__ import annotations

from django.db import connection

from controlplane.core.places import PLACE


def connection_give_back() -> None:
    """Returns this thread's connection and place.

    Call it before waiting for anything other than the database, so that others can use them.
    """
    if place := PLACE.get():
        place.give_back()
    if connection.settings_dict["OPTIONS"].get("pool") and not connection.in_atomic_block:
        connection.close()
