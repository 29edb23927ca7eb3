"""The ways in which `fqc-near` can serve before a server, by its product, line and edition. Pure.

This table agrees with what the program itself accepts (`engine/crates/near/src/binlog/product.rs`): advice that the
program refuses would be wrong. Tests run every statement and start servers with every option line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from controlplane.catalogue.normal import is_off
from controlplane.gateway.product import MARIADB, MYSQL

EXACT, BOUNDED, RULED = "exact", "bounded", "rules"
PASSWORD = "choose a password"  # noqa: S105 - a placeholder in a statement that is shown
FEED_USER, READER_USER = "fqc_near", "fqc_reader"
FEED_PRIVILEGE = "REPLICATION MASTER ADMIN"
FEED_LOGIN = f"--feed-user {FEED_USER} --feed-password-file /etc/fqc-near/password"
LOG_LOGIN = f"--binlog-user {READER_USER} --binlog-password-file /etc/fqc-near/password"
# MySQL offers TLS from its first start: clients take it, and pass a near cache unread that speaks none to the server.
# Since 8.0 it also takes the password of such an account over TLS alone. A server makes its own authority (ca.pem).
WITH_TLS = "--server-tls ca --server-ca /etc/fqc-near/ca.pem"
RULES = "--rules /etc/fqc-near/rules.toml"
READER_RIGHTS = {
    MARIADB.name: "REPLICATION SLAVE, BINLOG MONITOR, PROCESS",
    MYSQL.name: "REPLICATION SLAVE, REPLICATION CLIENT",
}
# Whether its log has a change before other sessions see that change is not documented.
EDITIONS_WITHOUT_A_LOG_TO_FOLLOW = ("Amazon Aurora",)
OLDEST_MYSQL_LOG = 8  # the first major version whose log is followed
NODE_OF_A_CLUSTER = "wsrep_on"


@dataclass(frozen=True)
class LogSetting:
    """A variable that must have one of these values so that the log has every change, with the option lines for it."""

    names: tuple[str, ...]  # of any version; the first that the server has counts
    fit: tuple[str, ...]
    lines: tuple[str, ...]  # of the option file

    def value(self, variables: Mapping[str, str]) -> str:
        return next((variables[name] for name in self.names if name in variables), "")

    def is_met(self, variables: Mapping[str, str]) -> bool:
        return self.value(variables).upper() in self.fit

    def name(self, variables: Mapping[str, str]) -> str:
        return next((name for name in self.names if name in variables), self.names[0])


ON = ("ON", "1")
_HAS_LOG = LogSetting(("log_bin",), ON, ("log_bin", "server_id = 1"))
_IS_OF_ROWS = LogSetting(("binlog_format",), ("ROW",), ("binlog_format = ROW",))
LOG_SETTINGS: dict[str, tuple[LogSetting, ...]] = {
    MARIADB.name: (
        _HAS_LOG,
        _IS_OF_ROWS,
        LogSetting(("log_slave_updates",), ON, ("log_slave_updates = ON",)),
        LogSetting(("binlog_optimize_thread_scheduling",), ON, ("binlog_optimize_thread_scheduling = ON",)),
    ),
    MYSQL.name: (
        _HAS_LOG,
        _IS_OF_ROWS,
        LogSetting(("log_replica_updates", "log_slave_updates"), ON, ("log_slave_updates = ON",)),
        LogSetting(("gtid_mode",), ("ON",), ("gtid_mode = ON", "enforce_gtid_consistency = ON")),
        LogSetting(("enforce_gtid_consistency",), ON, ("enforce_gtid_consistency = ON",)),
    ),
}


def modes_of(product: str, version: str, edition: str, *, has_engine: bool, takes_engine: bool) -> list[str]:
    """The best one first. Where MariaDB runs the engine there is no other: answers in exact mode are never stale."""
    exact = [EXACT] if product == MARIADB.name and (has_engine or takes_engine) else []
    if exact and has_engine:
        return exact
    bounded = [BOUNDED] if _has_log_to_follow(product, version, edition) else []
    return [*exact, *bounded, RULED]


def _has_log_to_follow(product: str, version: str, edition: str) -> bool:
    if edition in EDITIONS_WITHOUT_A_LOG_TO_FOLLOW:
        return False
    major = re.match(r"\d+", version)
    return product != MYSQL.name or (major is not None and int(major[0]) >= OLDEST_MYSQL_LOG)


def settings_missing(product: str, variables: Mapping[str, str]) -> list[LogSetting]:
    return [setting for setting in LOG_SETTINGS[product] if not setting.is_met(variables)]


def has_own_cache_on(variables: Mapping[str, str]) -> bool:
    """A cache in the server may lag behind its log."""
    return not is_off(variables.get("query_cache_type"))


def is_cluster_node(variables: Mapping[str, str]) -> bool:
    return not is_off(variables.get(NODE_OF_A_CLUSTER))


def statements(mode: str, product: str) -> tuple[str, ...]:
    """For a person to run on the server: the account of the near cache. By rules it needs none."""
    if mode == RULED:
        return ()
    if mode == EXACT:
        return (_account(FEED_USER), f"GRANT {FEED_PRIVILEGE} ON *.* TO '{FEED_USER}'@'%';")
    return (
        _account(READER_USER),
        f"GRANT {READER_RIGHTS[product]} ON *.* TO '{READER_USER}'@'%';",
        "-- for each database whose results may be kept:",
        f"GRANT SELECT, SHOW VIEW ON `shop`.* TO '{READER_USER}'@'%';",
    )


def _account(user: str) -> str:
    return f"CREATE USER '{user}'@'%' IDENTIFIED BY '{PASSWORD}';"


def file_lines(mode: str) -> tuple[str, ...]:
    """Example content for the file of rules that the command of this mode names."""
    return ("[[rule]]", 'schema = "shop"', 'cache = "always"', "ttl = 5") if mode == RULED else ()


def options(mode: str, product: str) -> str:
    own = {EXACT: FEED_LOGIN, BOUNDED: LOG_LOGIN, RULED: RULES}[mode]
    return f"{WITH_TLS} {own}" if product == MYSQL.name else own
