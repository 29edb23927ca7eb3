"""The ways of serving before a server: which there are, and that everything they tell a person to run works there."""

from __future__ import annotations

import pytest

from controlplane.gateway.product import MARIADB, LocalProduct
from controlplane.gateway.server import Server
from controlplane.near_caches.ways import BOUNDED, EXACT, LOG_SETTINGS, RULED, modes_of, settings_missing, statements
from testing.servers import LINES, TestServer, server_of_line


@pytest.mark.parametrize(
    ("product", "version", "edition", "has_engine", "takes_engine", "modes"),
    [
        ("MariaDB", "10.11.19-MariaDB", "", True, True, [EXACT]),
        ("MariaDB", "10.11.19-MariaDB", "", False, True, [EXACT, BOUNDED, RULED]),
        ("MariaDB", "10.6.21-MariaDB", "Amazon RDS", False, False, [BOUNDED, RULED]),
        ("MySQL", "9.7.4", "", True, True, [BOUNDED, RULED]),
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


@pytest.mark.parametrize(("kind", "product"), LINES)
def test_what_is_told_of_every_way_works_on_a_server_of_the_line(kind: type[TestServer], product: LocalProduct) -> None:
    lines = dict.fromkeys(line for setting in LOG_SETTINGS[product.name] for line in setting.lines)
    with server_of_line(kind, product, lines) as server:
        owner = server.connect()
        try:
            variables = owner.variables()
            assert settings_missing(product.name, variables) == []
            modes = modes_of(product.name, variables["version"], "", has_engine=False, takes_engine=product is MARIADB)
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
