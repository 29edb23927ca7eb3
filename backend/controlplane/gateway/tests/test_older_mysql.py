"""Real servers of MySQL 5.7 and 8.0, as managed services run them, used through the gateway."""

from __future__ import annotations

from controlplane.gateway.product import MYSQL, edition_of, product_of
from controlplane.gateway.variables import variable_rows
from testing.servers import TestServer


def test_a_server_is_recognised(older_mysql: TestServer) -> None:
    server = older_mysql.connect()
    variables = server.variables()
    server.close()
    assert variables["version"].startswith(f"{older_mysql.line}.")
    assert product_of(variables["version"]) is MYSQL
    assert edition_of(variables) == "Community"


def test_it_tells_its_variables(older_mysql: TestServer) -> None:
    server = older_mysql.connect()
    rows = variable_rows(server, MYSQL)
    server.close()
    assert len(rows) > 300
