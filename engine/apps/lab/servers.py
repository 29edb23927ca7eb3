"""The server of an application, for each product: its settings, its accounts, and what near caches need on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from driver.near import Near, admit_without_tls, by_feed, make_feed, sharing
from driver.product import MARIADB, Product
from driver.server import USER, Server

READER = "reader"
TTL_SECONDS = 5
# All servers write the binary log, so that its cost is the same in every mode.
COMMON = (
    "--log-bin=log",
    "--server-id=1",
    "--sync-binlog=0",
    "--innodb-buffer-pool-size=256M",
    "--performance-schema=OFF",
)
OF_MARIADB = ("--binlog-format=ROW", "--log-slave-updates", "--innodb-log-file-size=64M")
OF_MYSQL = ("--gtid-mode=ON", "--enforce-gtid-consistency=ON")


def settings(product: Product) -> Sequence[str]:
    return (*COMMON, *(OF_MARIADB if product is MARIADB else OF_MYSQL))


def make_accounts(server: Server, schema: str) -> None:
    """Creates an empty schema, and the account of the application, which may do everything in it."""
    if server.product is MARIADB:
        server.rows("DELETE FROM mysql.global_priv WHERE user = 'root' AND host <> 'localhost'")
        server.rows("FLUSH PRIVILEGES")
    server.rows(f"CREATE DATABASE {schema} CHARACTER SET utf8mb4")
    server.rows(f"CREATE USER {USER}@127.0.0.1")
    server.rows(f"GRANT ALL ON {schema}.* TO {USER}@127.0.0.1")
    # Near caches show their counters only to accounts with PROCESS.
    server.rows(f"GRANT PROCESS ON *.* TO {USER}@127.0.0.1")


def near(mode: str, folder: Path, server: Server, schema: str) -> Near | None:
    """Starts the near cache of this mode before the server, and returns when it serves; None in modes without one."""
    if mode == "exact":
        make_feed(server)
        return Near("near", folder, server, by_feed(folder))
    if mode == "in-process":
        make_feed(server)
        return sharing(folder, server)
    if mode == "binlog":
        _make_reader(server, schema)
        password = folder / "reader-password"
        password.write_text(READER)
        follows = ["--binlog-user", READER, "--binlog-password-file", password]
        return Near("near", folder, server, [*follows, "--in-transactions", "yes"])
    if mode == "rules":
        rules = folder / "rules.toml"
        lasts = f"ttl = {TTL_SECONDS}\nin_transactions = true\n"
        rules.write_text(f"[[rule]]\nschema = '{schema}'\ncache = 'always'\n{lasts}")
        return Near("near", folder, server, ["--rules", rules])
    return None


def _make_reader(server: Server, schema: str) -> None:
    """Creates the account of a near cache that follows the server's binary log."""
    privileges = "BINLOG MONITOR, PROCESS" if server.product is MARIADB else "REPLICATION CLIENT"
    server.rows(f"CREATE USER IF NOT EXISTS {READER}@127.0.0.1 IDENTIFIED BY '{READER}'")
    server.rows(f"GRANT REPLICATION SLAVE, {privileges} ON *.* TO {READER}@127.0.0.1")
    server.rows(f"GRANT SELECT, SHOW VIEW ON {schema}.* TO {READER}@127.0.0.1")
    admit_without_tls(server, READER, READER)
