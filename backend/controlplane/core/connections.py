"""Connections to the database, where they are shared by everything a web process does."""

from __future__ import annotations

from django.db import connection


def connection_give_back() -> None:
    """Before a wait for something else than the database: whoever waits keeps no connection from others."""
    if connection.settings_dict["OPTIONS"].get("pool") and not connection.in_atomic_block:
        connection.close()
