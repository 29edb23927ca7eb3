"""A real MySQL server of the `local` provider: how it is made and logged in to, and what its accounts may."""

from __future__ import annotations

import pymysql
import pytest

from controlplane.gateway.errors import AccessDenied, GatewayError, PasswordWithheld, RefusedStatement
from controlplane.gateway.local_accounts import Use, account
from controlplane.gateway.product import MYSQL
from controlplane.gateway.server import Server, open_server
from controlplane.gateway.variables import variable_rows
from testing.servers import LIMITS, TestServer


def as_use(server: TestServer, use: Use, *, public_key: str | None = None) -> Server:
    username, password = account(use, server.username, server.password)
    endpoint = server.everything
    endpoint.username, endpoint.password = username, password
    endpoint.public_key = server.public_key if public_key is None else public_key
    return open_server(endpoint, LIMITS)


def test_a_server_is_made_starts_stops_and_starts_again(own_server) -> None:  # type: ignore[no-untyped-def]
    server = own_server(product=MYSQL)
    first = server.pid
    assert first is not None
    server.restart()
    assert server.pid not in (None, first)
    server.connect().close()
    server.stop()
    assert server.pid is None


def test_a_password_is_encrypted_with_the_key_that_was_given_and_with_no_other(own_server) -> None:  # type: ignore[no-untyped-def]
    """Without the server's own key the log-in fails until the server has cached the account's hash: a server that has
    just started asks for the password itself.
    """
    server, other = own_server(product=MYSQL), own_server(product=MYSQL)
    with pytest.raises(PasswordWithheld, match="public key"):
        as_use(server, Use.CHANGE, public_key="")
    with pytest.raises(AccessDenied):
        as_use(server, Use.CHANGE, public_key=other.public_key)
    as_use(server, Use.CHANGE).close()
    as_use(server, Use.CHANGE, public_key="").close()  # the server now has a cached hash and compares with that


def test_the_owner_is_let_in_through_the_socket_alone(shared_mysql: TestServer) -> None:
    shared_mysql.as_owner().close()
    for secret in ("", shared_mysql.password):
        with pytest.raises(pymysql.MySQLError):
            pymysql.connect(unix_socket=str(shared_mysql.folder / "server.sock"), user="root", password=secret)
    endpoint = shared_mysql.everything
    endpoint.username = "root"
    with pytest.raises(GatewayError):
        open_server(endpoint, LIMITS)
    assert not (shared_mysql.folder / "owner.sql").exists()


def granted(server: Server) -> set[str]:
    return {row[0].partition(" TO ")[0].replace("\\\\", "\\") for row in server.rows("SHOW GRANTS")}


READING = {
    r"GRANT SELECT ON `%`.*",
    r"GRANT CREATE TEMPORARY TABLES ON `mysql`.*",
    r"GRANT CREATE TEMPORARY TABLES ON `sys`.*",
    r"GRANT CREATE TEMPORARY TABLES ON `performance\_schema`.*",
}
WAITS, HISTORY = (
    f"`performance_schema`.`{name}`" for name in ("table_io_waits_summary_by_table", "events_statements_history")
)


@pytest.mark.parametrize(
    ("use", "grants"),
    [
        (
            Use.WATCH,
            {"GRANT PROCESS ON *.*", f"GRANT SELECT ON {WAITS}", f"GRANT SELECT ON {HISTORY}", *READING},
        ),
        (
            Use.CHANGE,
            {
                "GRANT PROCESS ON *.*", "GRANT INSERT, DELETE ON `mysql`.`plugin`",
                "GRANT BINLOG_ADMIN,CONNECTION_ADMIN,REPLICATION_SLAVE_ADMIN,SYSTEM_VARIABLES_ADMIN ON *.*",
            },
        ),
        (Use.TRIAL, {"GRANT `fqc_counts`@`%`", "GRANT USAGE ON *.*", *READING}),
    ],
)  # fmt: skip
def test_each_account_has_exactly_its_grants(shared_mysql: TestServer, use: Use, grants: set[str]) -> None:
    server = as_use(shared_mysql, use)
    assert granted(server) == grants
    server.close()


@pytest.mark.parametrize("use", [Use.WATCH, Use.TRIAL])
def test_accounts_that_read_see_no_account_and_alter_nothing(shared_mysql: TestServer, use: Use) -> None:
    server = as_use(shared_mysql, use)
    for statement in (
        "SELECT 1 FROM mysql.user", "SELECT 1 FROM performance_schema.threads", "SET GLOBAL max_connections = 100",
        "SET PERSIST max_connections = 100", "CREATE DATABASE more", "SHUTDOWN",
    ):  # fmt: skip
        with pytest.raises((RefusedStatement, AccessDenied)):
            server.run(statement)
    server.close()


def test_what_can_be_set_is_told_to_an_account_without_rights_too(shared_mysql: TestServer) -> None:
    told = []
    for server in (as_use(shared_mysql, Use.TRIAL), shared_mysql.connect()):
        told.append({row[0]: row[-2:] for row in variable_rows(server, MYSQL)})
        server.close()
    assert told[0] == told[1]
    assert len(set(told[0].values())) == 3  # dynamic, only for the next start, never


def test_a_text_is_no_public_key() -> None:
    from controlplane.gateway.server import public_key_check

    for text in ("nonsense", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"):
        with pytest.raises(ValueError):
            public_key_check(text)
