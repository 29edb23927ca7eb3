"""An account on a real server, with only the privileges that a test gives it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from controlplane.gateway.product import MYSQL
from controlplane.gateway.server import Server
from testing.servers import TestServer, row_for

PASSWORD = "of-somebody-with-few-rights"
ACCOUNT = "'limited'@'127.0.0.1'"


@pytest.fixture
def owner(shared_server: TestServer) -> Iterator[Server]:
    yield from owner_of(shared_server)


@pytest.fixture
def mysql_owner(shared_mysql: TestServer) -> Iterator[Server]:
    yield from owner_of(shared_mysql)


def owner_of(server: TestServer) -> Iterator[Server]:
    everything = server.connect()
    yield everything
    everything.run("DROP USER IF EXISTS 'limited'@'127.0.0.1', 'fqc_trial'@'%'")
    everything.close()


def limited(server: TestServer, owner: Server, *statements: str, **facts: Any) -> Any:
    """Returns an external instance whose account has only what `statements` grant to ACCOUNT.

    `owner` runs them, and makes the account, which must not exist. `facts` as in `row_for`.
    """
    owner.run(f"CREATE USER {ACCOUNT} IDENTIFIED BY '{PASSWORD}'")
    for statement in statements:
        owner.run(statement)
    instance = row_for(server, provider="external", username="limited", **facts)
    instance.password = PASSWORD
    if server.product is MYSQL:
        instance.public_key = server.public_key
    instance.save()
    return instance
