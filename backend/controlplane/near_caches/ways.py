"""The modes in which `fqc-near` can serve for a server, by its product, line and edition. Pure.

This table agrees with what the program itself accepts (`engine/crates/near/src/binlog/product.rs`): advice that the
program refuses would be wrong. Tests run every statement and start servers with every option line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from controlplane.catalogue.normal import is_off
from controlplane.gateway import reports
from controlplane.gateway.known_servers import known_line
from controlplane.gateway.numbers import whole
from controlplane.gateway.product import MARIADB, MYSQL

EXACT, BOUNDED, RULED = "exact", "bounded", "rules"
PASSWORD = "choose a password"  # noqa: S105 - a placeholder in a statement that is shown
FEED_USER, READER_USER = "fqc_near", "fqc_reader"
FEED_PRIVILEGE = {MARIADB.name: "REPLICATION MASTER ADMIN", MYSQL.name: "REPLICATION SLAVE"}
PASSWORD_FILE, RULES_FILE, CA_FILE = "/etc/fqc-near/password", "/etc/fqc-near/rules.toml", "/etc/fqc-near/ca.pem"
OWN_OPTIONS = {
    EXACT: {"feed-user": FEED_USER, "feed-password-file": PASSWORD_FILE},
    BOUNDED: {"binlog-user": READER_USER, "binlog-password-file": PASSWORD_FILE},
    RULED: {"rules": RULES_FILE},
}
# Clients use TLS if a server offers it, and a near cache without TLS to the server passes their connections through
# unread. MySQL also accepts the password of such an account only over TLS.
TLS_OPTIONS = {"server-tls": "ca", "server-ca": CA_FILE}
# Since this version a MariaDB server without a certificate makes one in memory, another one at each start.
OWN_CERTIFICATE = (11, 4)
READER_RIGHTS = {
    MARIADB.name: "REPLICATION SLAVE, BINLOG MONITOR, PROCESS",
    MYSQL.name: "REPLICATION SLAVE, REPLICATION CLIENT",
}
# Editions whose documentation does not say whether the log has a change before other sessions see that change.
EDITIONS_WITHOUT_A_LOG_TO_FOLLOW = ("Amazon Aurora",)
OLDEST_MYSQL_LOG = 8  # the first major version whose log can be followed
NODE_OF_A_CLUSTER = "wsrep_on"
GROUP_OF_A_MEMBER = "group_replication_group_name"  # a variable of the plugin Group Replication


@dataclass(frozen=True)
class LogSetting:
    """A variable of the server that must have one of the values in `fit`, so that near caches find every change in its
    binary log.

    `lines` set it in an option file.
    """

    names: tuple[str, ...]  # its names in all versions; the first one that the server has counts
    fit: tuple[str, ...]  # in upper case
    lines: tuple[str, ...]  # for the server's option file

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


SERVED_FOR_A_WHILE = ('cache = "always"', "ttl = 5")
WHY_TABLES = "# These tables are read often and written rarely."
PLAIN_TABLE = re.compile(r"[\w$-]+\.[\w$-]+")
LONGEST_SHAPE = 160
MOST_RULES = 5
ONE_STATEMENT = re.compile(r"(?!0+$)[0-9a-f]{32}")  # the row for all other statements has a digest of zeros


@dataclass(frozen=True)
class RepeatedStatement:
    """A statement without its literals that was run more than once, and its digest."""

    digest: str
    shape: str


def modes_of(
    product: str, version: str, edition: str, *, has_engine: bool, takes_engine: bool, is_in_group: bool = False
) -> list[str]:
    """Returns the modes in which a near cache can serve for such a server, the best one first.

    If the server has the engine, and that admits near caches, there is only exact mode, whose answers are never stale.
    On a member of a replication group the engine admits none.
    """
    has_feed = known_line(product, version).admits_near_caches and not is_in_group
    exact = [EXACT] if has_feed and (has_engine or takes_engine) else []
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
    """Returns whether the server's own query cache is on.

    A near cache must then not follow the log: answers of that cache may lag behind it.
    """
    return not is_off(variables.get("query_cache_type"))


def is_cluster_node(variables: Mapping[str, str]) -> bool:
    return not is_off(variables.get(NODE_OF_A_CLUSTER))


def is_group_member(variables: Mapping[str, str]) -> bool:
    """Returns whether Group Replication is installed.

    The engine then admits no near cache, even if the server's group does not run.
    """
    return GROUP_OF_A_MEMBER in variables


def statements(mode: str, product: str) -> tuple[str, ...]:
    """Returns the SQL statements that make the near cache's account on the server.

    The mode with rules needs no account, so it has none.
    """
    if mode == RULED:
        return ()
    if mode == EXACT:
        return (_account(FEED_USER), f"GRANT {FEED_PRIVILEGE[product]} ON *.* TO '{FEED_USER}'@'%';")
    return (
        _account(READER_USER),
        f"GRANT {READER_RIGHTS[product]} ON *.* TO '{READER_USER}'@'%';",
        "-- for each database whose results may be kept:",
        f"GRANT SELECT, SHOW VIEW ON `shop`.* TO '{READER_USER}'@'%';",
    )


def _account(user: str) -> str:
    return f"CREATE USER '{user}'@'%' IDENTIFIED BY '{PASSWORD}';"


def file_lines(
    mode: str, repeated: Sequence[RepeatedStatement] = (), read_mostly: Sequence[str] = ()
) -> tuple[str, ...]:
    """Returns the lines of the rules file, for the mode that needs one: rules for the statements that repeat most, or
    for the tables `read_mostly` (each with its schema), or else an example.

    Empty for other modes.
    """
    if mode != RULED:
        return ()
    if repeated:
        return tuple(line for each in repeated for line in _rule(each))
    named = [each for each in read_mostly if PLAIN_TABLE.fullmatch(each)][:MOST_RULES]
    if named:
        lines = (line for each in named for line in ("[[rule]]", f'table = "{each}"', *SERVED_FOR_A_WHILE))
        return (WHY_TABLES, *lines)
    return ("[[rule]]", 'schema = "shop"', *SERVED_FOR_A_WHILE)


def _rule(repeated: RepeatedStatement) -> tuple[str, ...]:
    shape = " ".join(repeated.shape.split())
    return (f"# {shape[:LONGEST_SHAPE]}", "[[rule]]", f'digest = "{repeated.digest}"', *SERVED_FOR_A_WHILE)


def repeated_statements(rows: Iterable[Mapping[str, str | None]]) -> list[RepeatedStatement]:
    """Returns the statements that ran most often, at most MOST_RULES, from the rows of SHOW FQC QUERIES.

    Those that ran once are left out.
    """
    counted = [(whole(row.get(reports.EXECUTIONS)) or 0, row) for row in rows]
    often = sorted((each for each in counted if each[0] > 1), key=lambda each: -each[0])
    found = [RepeatedStatement(row.get(reports.DIGEST) or "", row.get(reports.QUERY) or "") for _, row in often]
    return [each for each in found if ONE_STATEMENT.fullmatch(each.digest)][:MOST_RULES]


def offers_tls(product: str, version: str, variables: Mapping[str, str]) -> bool:
    """Returns whether the server offers TLS, by `variables`, or if they do not say, by product and version: MySQL
    offers it from its first start, MariaDB since it makes a certificate.
    """
    told = variables.get("have_ssl")
    return told == "YES" if told else product == MYSQL.name or makes_its_certificate(version, variables)


def makes_its_certificate(version: str, variables: Mapping[str, str]) -> bool:
    """True if the server makes its certificate when it starts, so that a near cache cannot verify it."""
    release = re.match(r"(\d+)\.(\d+).*MariaDB", version)
    is_of_age = release is not None and (int(release[1]), int(release[2])) >= OWN_CERTIFICATE
    return is_of_age and not variables.get("ssl_cert") and variables.get("have_ssl", "YES") == "YES"


def options(mode: str, *, has_tls: bool) -> dict[str, str]:
    """Returns the options of `fqc-near` by name for a mode, except the addresses of the server and of its own listener.

    `has_tls`: the server offers TLS.
    """
    return {**(TLS_OPTIONS if has_tls else {}), **OWN_OPTIONS[mode]}
