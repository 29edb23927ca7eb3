"""The ways of serving before a server: which there are, and that everything they tell a person to run works there."""

from __future__ import annotations

import tomllib

import pytest

from controlplane.gateway.product import LocalProduct
from controlplane.gateway.server import Server
from controlplane.near_caches.commands import config_lines, docker_command, service_lines, start_command
from controlplane.near_caches.ways import (
    BOUNDED,
    EXACT,
    LOG_SETTINGS,
    RULED,
    file_lines,
    makes_its_certificate,
    modes_of,
    offers_tls,
    options,
    repeated_statements,
    settings_missing,
    statements,
)
from testing.servers import LINES, TestServer, server_of_line


@pytest.mark.parametrize(
    ("product", "version", "edition", "has_engine", "takes_engine", "modes"),
    [
        ("MariaDB", "10.11.19-MariaDB", "", True, True, [EXACT]),
        ("MariaDB", "10.11.19-MariaDB", "", False, True, [EXACT, BOUNDED, RULED]),
        ("MariaDB", "10.6.21-MariaDB", "Amazon RDS", False, False, [BOUNDED, RULED]),
        ("MySQL", "9.7.4", "", True, True, [EXACT]),
        ("MySQL", "9.7.4", "", False, True, [EXACT, BOUNDED, RULED]),
        ("MySQL", "8.4.6", "Percona Server", False, False, [BOUNDED, RULED]),
        ("MySQL", "8.0.40", "Google Cloud SQL", False, False, [BOUNDED, RULED]),
        ("MySQL", "8.0.39", "Amazon Aurora", False, False, [RULED]),
        ("MySQL", "5.7.22-log", "", False, False, [RULED]),
        ("MySQL", "", "", False, False, [RULED]),
    ],
)
def test_the_ways_of_a_server(
    product: str, version: str, edition: str, has_engine: bool, takes_engine: bool, modes: list[str]
) -> None:
    assert modes_of(product, version, edition, has_engine=has_engine, takes_engine=takes_engine) == modes


def test_exact_mode_is_not_offered_on_a_member_of_a_replication_group() -> None:
    assert modes_of("MySQL", "9.7.4", "", has_engine=True, takes_engine=True, is_in_group=True) == [BOUNDED, RULED]


@pytest.mark.parametrize(
    ("product", "version", "variables", "is_offered", "is_made"),
    [
        ("MySQL", "9.7.4", {}, True, False),
        ("MySQL", "8.0.40", {"have_ssl": "DISABLED"}, False, False),
        ("MariaDB", "10.11.19-MariaDB-log", {"have_ssl": "DISABLED"}, False, False),
        ("MariaDB", "10.11.19-MariaDB", {"have_ssl": "YES", "ssl_cert": "/etc/mysql/a.pem"}, True, False),
        ("MariaDB", "11.4.5-MariaDB", {"have_ssl": "YES", "ssl_cert": ""}, True, True),
        ("MariaDB", "11.4.5-MariaDB", {"have_ssl": "YES", "ssl_cert": "/etc/mysql/a.pem"}, True, False),
        ("MariaDB", "11.8.2-MariaDB", {"have_ssl": "DISABLED"}, False, False),
        ("MariaDB", "11.8.2-MariaDB", {}, True, True),
    ],
)
def test_where_clients_take_tls_a_near_cache_speaks_it_to_the_server(
    product: str, version: str, variables: dict[str, str], is_offered: bool, is_made: bool
) -> None:
    assert offers_tls(product, version, variables) is is_offered
    assert makes_its_certificate(version, variables) is is_made
    assert ("server-tls" in options(EXACT, has_tls=is_offered)) is is_offered


def test_rules_are_made_of_the_statements_that_repeat_most() -> None:
    shape = "SELECT name FROM product\n WHERE id = ?"
    rows = [
        {"Digest": "0" * 32, "Executions": "900", "Query": "all others"},
        {"Digest": "a" * 32, "Executions": "7", "Query": shape},
        {"Digest": "b" * 32, "Executions": "80", "Query": "SELECT 1"},
        {"Digest": "c" * 32, "Executions": "1", "Query": "SELECT once"},
        {"Digest": "no digest", "Executions": "5", "Query": "SELECT 2"},
    ]
    lines = file_lines(RULED, repeated_statements(rows))
    assert [rule["digest"] for rule in tomllib.loads("\n".join(lines))["rule"]] == ["b" * 32, "a" * 32]
    assert "# SELECT name FROM product WHERE id = ?" in lines
    assert tomllib.loads("\n".join(file_lines(RULED)))["rule"] == [{"schema": "shop", "cache": "always", "ttl": 5}]
    assert file_lines(EXACT, repeated_statements(rows)) == ()


def test_rules_are_made_of_the_tables_that_are_read_mostly_where_no_statement_is_known() -> None:
    tables = ["shop.product", 'shop.a"b', *(f"shop.t{number}" for number in range(9))]
    rules = tomllib.loads("\n".join(file_lines(RULED, read_mostly=tables)))["rule"]
    assert rules[0] == {"table": "shop.product", "cache": "always", "ttl": 5}
    assert [rule["table"] for rule in rules[1:]] == ["shop.t0", "shop.t1", "shop.t2", "shop.t3"]
    assert file_lines(BOUNDED, read_mostly=tables) == ()


@pytest.mark.parametrize("mode", [EXACT, BOUNDED, RULED])
def test_each_way_of_starting_has_the_same_options(mode: str) -> None:
    own = options(mode, has_tls=True)
    file = tomllib.loads("\n".join(config_lines("db.internal", 3306, own)))
    command, container = start_command("db.internal", 3306, own), docker_command("db.internal", 3306, own)
    assert file.pop("server") == "db.internal:3306" and file.pop("listen") == ["127.0.0.1:3307"]
    assert file.keys() == own.keys()
    for name, value in own.items():
        assert f"--{name} {value}" in command
        if name != "feed-password-file":  # the image takes the password itself
            assert f"--env FQC_NEAR_{name.upper().replace('-', '_')}={value}" in container
    assert service_lines(own)[-1] == "systemctl enable --now fqc-near"
    assert any("LoadCredential" in line for line in service_lines(own)) is (mode != RULED)


@pytest.mark.parametrize(("kind", "product"), LINES)
def test_what_is_told_of_every_way_works_on_a_server_of_the_line(kind: type[TestServer], product: LocalProduct) -> None:
    lines = dict.fromkeys(line for setting in LOG_SETTINGS[product.name] for line in setting.lines)
    with server_of_line(kind, product, lines) as server:
        owner = server.connect()
        try:
            variables = owner.variables()
            assert settings_missing(product.name, variables) == []
            modes = modes_of(product.name, variables["version"], "", has_engine=False, takes_engine=True)
            for mode in modes:
                _run_as_told(owner, statements(mode, product.name))
        finally:
            owner.close()


def _run_as_told(owner: Server, told: tuple[str, ...]) -> None:
    for statement in told:
        if not statement.startswith("--"):
            owner.run(statement.rstrip(";"))
    for user in (line.split("'")[1] for line in told if line.startswith("CREATE USER")):
        assert "REPLICATION" in str(owner.rows(f"SHOW GRANTS FOR '{user}'@'%'"))
