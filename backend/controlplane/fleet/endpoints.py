"""Checks a server before it is registered: whether it answers, what it is, and which instances have the same address.

The check connects to any address that a user gives. So it is limited to the allowed networks, rate-limited, and audited
before it is made. Details are shown only if the server is of a kind that can be registered; otherwise the check could
be used to probe any service.
"""

from __future__ import annotations

import time
from typing import Any

from django.db import transaction

from controlplane.audit.services import audit_record
from controlplane.core.connections import connection_give_back
from controlplane.core.throttling import CallerThrottle
from controlplane.fleet.connection import CONVERSATION_STATEMENTS, Address, limits
from controlplane.fleet.models import Instance
from controlplane.fleet.observation import read_identity
from controlplane.fleet.services import endpoint_check
from controlplane.gateway.errors import AnswerTooLong, NotAServer, NoTls, Unreachable
from controlplane.gateway.numbers import whole
from controlplane.gateway.server import Limits, Server, open_server

SIZES = ("thread_pool_size", "max_connections", "innodb_buffer_pool_size")


class EndpointCheckThrottle(CallerThrottle):
    scope = "endpoint_check"


def endpoint_probe(*, host: str, port: int, **account: Any) -> dict[str, Any]:
    _note(host, port, account["username"])
    endpoint_check(host)
    same = Instance.objects.filter(host__iexact=host, port=port).order_by("name")
    names, within = list(same.values_list("name", flat=True)[:5]), limits()
    connection_give_back()
    server = _opened(Address(host, port, **account), within)
    try:
        server.stay_uncounted()
        identity = read_identity(server)
        sizes = dict(server.rows("SHOW GLOBAL VARIABLES WHERE Variable_name IN %s", [SIZES]))
    finally:
        server.close()
    # MariaDB's default is as many thread groups as the machine has processors.
    return {
        **identity.facts,
        "cpu_count": whole(sizes.get("thread_pool_size")),
        "max_connections": whole(sizes.get("max_connections")),
        "buffer_pool_bytes": whole(sizes.get("innodb_buffer_pool_size")),
        "same_endpoint": names,
    }


@transaction.atomic
def _note(host: str, port: int, username: str) -> None:
    """Writes the audit event before a server is checked.

    The check alters nothing, but connects to an address that a user gave.
    """
    target = Instance(pk="unregistered", name=f"{host}:{port}"[:200])
    audit_record("endpoint.checked", target, after={"host": host, "port": port, "username": username})


def _opened(address: Address, within: Limits) -> Server:
    try:
        server = open_server(address, within)
    except (Unreachable, NotAServer, AnswerTooLong) as error:
        # A server answered: it is shutting down, has too many connections, or has another certificate.
        if error.number or isinstance(error, NoTls):
            raise
        place = f"{address.host}:{address.port}"
        raise Unreachable(
            f"{place}: no database server responded. Check the host, the port and the firewall."
        ) from error
    server.until = time.monotonic() + CONVERSATION_STATEMENTS * server.statement_seconds
    return server
