"""Connections to the database, where they are shared by everything a web process does."""

from __future__ import annotations

from django.db import connection

from controlplane.core.places import PLACE


def connection_give_back() -> None:
    """Before a wait for something other than the database: who waits keeps no connection and no place from others."""
    if place := PLACE.get():
        place.give_back()
    if connection.settings_dict["OPTIONS"].get("pool") and not connection.in_atomic_block:
        connection.close()
