"""The engine of a server is replaced by an older one and back, as the guide of upgrades says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings

from controlplane.gateway.product import MARIADB, MYSQL, LocalProduct
from controlplane.gateway.server import Server
from testing.libraries import OLDER
from testing.servers import TestServer
from testing.workers import until

TAKE_OUT = {
    MARIADB.name: ["UNINSTALL SONAME 'fqc'"],
    MYSQL.name: [f"UNINSTALL PLUGIN {name}" for name in ("query", "fqc", "fqc_events")],
}
IS_LOADED = "SELECT 1 FROM information_schema.plugins WHERE plugin_library = 'fqc.so'"


def run(server: TestServer, statements: list[str]) -> None:
    connection = server.connect()
    for statement in statements:
        connection.run(statement)
    connection.close()


def load_again(server: TestServer) -> None:
    run(server, TAKE_OUT[server.product.name])
    connection = server.connect()
    until(lambda: not connection.rows(IS_LOADED), "the plugin is taken out", seconds=300)
    connection.close()
    run(server, [*server.product.install_engine])


def version_of(server: TestServer) -> str | None:
    connection = server.connect()
    try:
        return connection.variable("fqc_minor_version")
    finally:
        connection.close()


def serves(connection: Server, counting: Server, text: str) -> bool:
    """Runs the statement on `connection` and returns whether the cache answered it, by the count of hits before and
    after.
    """
    hits = "SHOW GLOBAL STATUS LIKE 'Fqc_hits'"
    before = counting.rows(hits)
    connection.rows(text)
    return counting.rows(hits) != before


@pytest.mark.parametrize("product", [MARIADB, MYSQL], ids=lambda product: product.name)
def test_an_older_engine_follows_a_newer_one_at_the_next_start_and_the_other_way_round(
    own_server: Callable[..., TestServer], older_library: Path, product: LocalProduct
) -> None:
    server = own_server(has_engine=True, product=product)
    table = "CREATE TABLE shop.t (id INT PRIMARY KEY, v INT)"
    run(server, ["CREATE DATABASE shop", table, "INSERT INTO shop.t VALUES (1, 0)"])
    newest, read = version_of(server), "SELECT v FROM shop.t WHERE id = 1"
    steps = [(older_library, newest, str(OLDER)), (settings.ENGINE_LIBRARY, str(OLDER), newest)]
    for value, (library, old, new) in enumerate(steps, 1):
        server.install_engine_file(library)
        load_again(server)
        assert version_of(server) == old, "a library that was loaded stays until the server ends"
        server.restart()
        assert version_of(server) == new
        run(server, ["SET GLOBAL fqc_size = 16777216", "SET GLOBAL fqc_type = 1"])
        connection, counting = server.connect(), server.connect()
        until(lambda: serves(connection, counting, read), "a repeated read is served", seconds=300)  # noqa: B023
        run(server, [f"UPDATE shop.t SET v = {value}"])
        assert connection.rows(read) == [(value,)]
        connection.close()
        counting.close()
