"""Reads from a server whether it offers TLS."""

from __future__ import annotations

from contextlib import suppress

from controlplane.core.errors import Problem
from controlplane.fleet.connection import connected
from controlplane.fleet.models import Instance
from controlplane.gateway.name_values import Values

SECONDS = 5.0  # a person waits for the answer


def tls_variables(instance: Instance) -> Values:
    """Returns the server's variables that say whether it offers TLS; empty if it does not answer.

    Newer servers lack some of them.
    """
    with suppress(Problem), connected(instance, seconds=SECONDS) as server:
        return server.name_values("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('have_ssl', 'ssl_cert')")
    return {}
