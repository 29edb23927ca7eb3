"""What differs from one server product to another, as data: a `Product` says it once, and its users ask it. Pure.

An instance may be a server of any of them. Servers of a `LocalProduct` can also be made on this machine, and the engine
can be loaded into those whose door its library has (`engine`). The accounts of local servers are in `local_accounts`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class TimeLimit:
    """The variable of a session that ends its statements on the server."""

    name: str
    is_in_milliseconds: bool


@dataclass(frozen=True)
class TableStatistics:
    """How often the rows of each table were read and changed."""

    switch: str  # the variable that must be on
    is_switched_at_start: bool  # by the option file alone
    query: str  # given the schemas to leave out, and a pattern of tables to leave out


@dataclass(frozen=True)
class Edition:
    """Who built a server, or runs it: the first whose pattern is found in what one of its variables says."""

    name: str
    variable: str
    pattern: str
    is_managed: bool = False  # nobody but its provider reaches its machine


@dataclass(frozen=True)
class Product:
    name: str  # of its lines in the catalogue, too: MariaDB, mariadb-10.11
    version_mark: str  # in lower case, what every version text of it has
    # Each gives the rows that `catalogue.server_variables` reads; the first that a server understands counts. One that
    # understands none does not describe its variables.
    variables_queries: tuple[str, ...]
    # A variable that no server of it lets anybody set. With it, a server that does not list which of its variables can
    # be set is asked, see `variables`. Empty: it lists them.
    never_set: str
    # An assignment to a global variable that every server of it refuses, whoever asks, before any is made.
    never_assigned: str
    # Keeps values itself, beyond its next start, where this variable is ON. Empty: it cannot.
    keeping_switch: str
    engine_symbol: bytes  # which a library has that can be loaded into it
    install_engine: tuple[str, ...]
    statistics: TableStatistics
    not_tables: str  # a pattern of tables that hold nothing, though they are counted like others; empty: there are none
    account_tables: tuple[str, ...]  # where it keeps what its accounts log in with
    start_empties_tmpdir: bool  # a server that starts removes temporary tables there, also those of other servers
    time_limit: TimeLimit
    # Numbers of errors that it alone has, by what they mean: the connection was killed, the statement took too long.
    killed_errors: frozenset[int]
    timeout_errors: frozenset[int]


@dataclass(frozen=True)
class LocalProduct(Product):
    program: str
    package: str  # that brings its programs
    # A command, where {data}, {tmp}, {user} and {init} stand for what they are; {init} is a file of statements.
    make_databases: tuple[str, ...]
    section: str  # of an option file
    options: tuple[str, ...]  # that people may configure otherwise
    pool_limit_option: str  # how far the buffer pool may grow while the server runs; empty: it is not limited
    public_key_file: str  # in its databases: the key that passwords are encrypted with; empty: it has none
    # As whom the owner of the server's process has every right, through its socket: by a password that the server is
    # given when it is made. Empty: by the name of the process's own account.
    owner: str
    engine_installed_errors: frozenset[int]  # it is already there


MARIADB = LocalProduct(
    name="MariaDB",
    version_mark="mariadb",
    variables_queries=(
        "SELECT LOWER(VARIABLE_NAME), VARIABLE_TYPE, DEFAULT_VALUE, VARIABLE_SCOPE, VARIABLE_COMMENT,"
        " NUMERIC_MIN_VALUE, NUMERIC_MAX_VALUE, NUMERIC_BLOCK_SIZE, ENUM_VALUE_LIST, READ_ONLY, COMMAND_LINE_ARGUMENT"
        " FROM information_schema.SYSTEM_VARIABLES",
    ),
    never_set="",
    never_assigned="`datadir` = 1",
    keeping_switch="",
    statistics=TableStatistics(
        switch="userstat",
        is_switched_at_start=False,
        query="SELECT TABLE_SCHEMA, TABLE_NAME, ROWS_READ, ROWS_CHANGED FROM information_schema.TABLE_STATISTICS"
        " WHERE TABLE_SCHEMA NOT IN %s AND TABLE_NAME NOT REGEXP %s"
        " ORDER BY ROWS_READ + ROWS_CHANGED DESC LIMIT 200",
    ),
    not_tables="^seq_[0-9]+_to_[0-9]+(_step_[0-9]+)?$",  # of the SEQUENCE engine
    account_tables=("mysql.global_priv", "mysql.user"),
    start_empties_tmpdir=True,
    time_limit=TimeLimit("max_statement_time", is_in_milliseconds=False),
    killed_errors=frozenset({1927}),
    timeout_errors=frozenset({1969}),
    program="mariadbd",
    package="mariadb-server-core",
    make_databases=(
        "mariadb-install-db",
        # The first of its arguments. What the machine's own server is configured with has no place here.
        "--no-defaults",
        "--datadir={data}",
        "--tmpdir={tmp}",
        "--user={user}",
        "--auth-root-authentication-method=socket",
        "--skip-test-db",
        "--skip-name-resolve",
        # It looks up the machine's name, which nothing here goes by, and gives up where that is unknown.
        "--force",
    ),
    section="mariadbd",
    options=(
        "loose-getopt-prefix-matching=OFF",  # before all others, none of which may be an abbreviation from here on
        "skip-name-resolve",
        "skip-log-bin",
        "innodb-log-file-size=32M",
        # Of the server's default of 128 MB, which only MyISAM tables use, a small class would lose a quarter.
        "key-buffer-size=16M",
        "userstat=1",
        "query-cache-type=0",
        "query-cache-size=0",
    ),
    pool_limit_option="loose-innodb-buffer-pool-size-max",
    public_key_file="",
    owner="",
    engine_symbol=b"_maria_plugin_declarations_",
    install_engine=("INSTALL SONAME 'fqc'",),
    engine_installed_errors=frozenset({1968, 1125}),  # the plugin, or its function
)

# What the two tables have that every version since 8.0 has. A value that nobody gave is the default.
_MYSQL_VALUES = (
    " FROM performance_schema.variables_info i"
    " LEFT JOIN performance_schema.global_variables g ON g.VARIABLE_NAME = i.VARIABLE_NAME"
)
_MYSQL_VALUES_OF_5_7 = (
    ", NULL, 'GLOBAL', '', NULL, NULL, NULL, NULL, NULL, NULL FROM performance_schema.global_variables g UNION ALL"
    " SELECT LOWER(s.VARIABLE_NAME), 'VARCHAR', NULL, 'SESSION ONLY', '', NULL, NULL, NULL, NULL, NULL, NULL"
    " FROM performance_schema.session_variables s"
    " WHERE s.VARIABLE_NAME NOT IN (SELECT VARIABLE_NAME FROM performance_schema.global_variables)"
)
_MYSQL_DEFAULT = "IF(i.VARIABLE_SOURCE = 'COMPILED', g.VARIABLE_VALUE, NULL)"
_MYSQL_FLAGS = "g.VARIABLE_VALUE REGEXP '=o(n|ff)(,|$)'"
_MYSQL_GUESSED = (
    "CASE WHEN g.VARIABLE_VALUE IN ('ON', 'OFF') THEN 'BOOLEAN'"
    f" WHEN {_MYSQL_FLAGS} THEN 'FLAGSET' WHEN g.VARIABLE_VALUE REGEXP '^-?[0-9]+$' THEN 'BIGINT'"
    " WHEN g.VARIABLE_VALUE REGEXP '^-?[0-9]+[.][0-9]+$' THEN 'DOUBLE' ELSE 'VARCHAR' END"
)
_MYSQL_RANGE = "NULLIF(%s.MIN_VALUE, ''), NULLIF(%s.MAX_VALUE, ''), NULL, NULL, NULL, NULL"

MYSQL = LocalProduct(
    name="MySQL",
    version_mark="",
    variables_queries=(
        # Since 9.1 a server describes them.
        "SELECT LOWER(m.VARIABLE_NAME), CASE m.DATA_TYPE WHEN 'Boolean' THEN 'BOOLEAN' WHEN 'Enumeration' THEN 'ENUM'"
        f" WHEN 'Set' THEN IF({_MYSQL_FLAGS}, 'FLAGSET', 'SET') WHEN 'Numeric' THEN 'DOUBLE'"
        f" WHEN 'Integer' THEN 'BIGINT' ELSE 'VARCHAR' END, {_MYSQL_DEFAULT},"
        " REPLACE(m.VARIABLE_SCOPE, '_', ' '), m.DOCUMENTATION, " + _MYSQL_RANGE.replace("%s", "m") + _MYSQL_VALUES + ""
        " JOIN performance_schema.variables_metadata m ON m.VARIABLE_NAME = i.VARIABLE_NAME",
        # 8.0 and 8.4 do not. What a value looks like tells its type; where it can be a text, it is one.
        f"SELECT LOWER(i.VARIABLE_NAME), {_MYSQL_GUESSED}, {_MYSQL_DEFAULT},"
        " IF(g.VARIABLE_NAME IS NULL, 'SESSION ONLY', 'GLOBAL'), '',"
        " IF(i.MAX_VALUE = '0', NULL, i.MIN_VALUE), IF(i.MAX_VALUE = '0', NULL, i.MAX_VALUE), NULL, NULL, NULL, NULL"
        + _MYSQL_VALUES,
        # 5.7 says nothing but values.
        "SELECT LOWER(g.VARIABLE_NAME), " + _MYSQL_GUESSED + _MYSQL_VALUES_OF_5_7,
    ),
    never_set="datadir",
    # It looks at rights before values, but only after it has looked at what can be set.
    never_assigned="`sql_mode` = 'no such mode'",
    keeping_switch="persisted_globals_load",
    statistics=TableStatistics(
        switch="performance_schema",
        is_switched_at_start=True,
        query="SELECT OBJECT_SCHEMA, OBJECT_NAME, COUNT_READ, COUNT_WRITE"
        " FROM performance_schema.table_io_waits_summary_by_table"
        " WHERE OBJECT_TYPE = 'TABLE' AND COUNT_STAR > 0 AND OBJECT_SCHEMA NOT IN %s AND OBJECT_NAME NOT REGEXP %s"
        " ORDER BY COUNT_READ + COUNT_WRITE DESC LIMIT 200",
    ),
    not_tables="",
    account_tables=("mysql.user",),
    start_empties_tmpdir=False,
    time_limit=TimeLimit("max_execution_time", is_in_milliseconds=True),
    killed_errors=frozenset(),
    timeout_errors=frozenset({3024}),
    program="mysqld",
    package="mysql-server-core",
    make_databases=(
        "mysqld",
        "--no-defaults",
        "--initialize-insecure",  # its account is given a password before the server can be reached
        "--init-file={init}",
        "--datadir={data}",
        "--tmpdir={tmp}",
        "--user={user}",
        "--skip-name-resolve",
        "--loose-innodb-redo-log-capacity=32M",
    ),
    section="mysqld",
    # Older lines do not know all of these.
    options=(
        "skip-name-resolve",
        "skip-log-bin",
        "loose-mysqlx=OFF",  # it would listen on a port of its own
        "loose-innodb-redo-log-capacity=32M",
        "key-buffer-size=16M",
        # What is configured is in one place, which people see.
        "loose-persisted-globals-load=OFF",
    ),
    pool_limit_option="",
    public_key_file="public_key.pem",
    owner="root",
    engine_symbol=b"_mysql_plugin_declarations_",
    install_engine=tuple(f"INSTALL PLUGIN {name} SONAME 'fqc.so'" for name in ("fqc", "fqc_events", "query")),
    engine_installed_errors=frozenset({1125}),
)

# Of a version's text the first part says the product; these are known by what else the server says.
EDITIONS: tuple[Edition, ...] = (
    Edition("Amazon Aurora", "aurora_version", ".", is_managed=True),
    Edition("Amazon RDS", "basedir", "^/rdsdbbin/", is_managed=True),
    Edition("Google Cloud SQL", "version", "-google", is_managed=True),
    Edition("Google Cloud SQL", "version_comment", r"\(Google\)", is_managed=True),
    Edition("Azure Database", "version", "-azure", is_managed=True),
    Edition("Azure Database", "version_comment", "azure", is_managed=True),
    Edition("Percona Server", "version_comment", "percona"),
    Edition("Enterprise", "version_comment", "enterprise"),
    Edition("Community", "version_comment", r"community|mariadb\.org|mariadb server"),
    Edition("Debian", "version_comment", "debian"),
    Edition("Ubuntu", "version_comment", "ubuntu"),
)

NO_PRIVILEGE_ERRORS = frozenset({1142, 1143})  # of every product: on the table, on a column of it
LACKS_PRIVILEGE_ERRORS = NO_PRIVILEGE_ERRORS | {1227, 1370}  # for what a statement does, on a routine
DEFAULT_PRODUCT = MARIADB  # of a local server for which none was named, and of the first engine
LOCAL_PRODUCTS: tuple[LocalProduct, ...] = (MARIADB, MYSQL)
PRODUCTS: tuple[Product, ...] = LOCAL_PRODUCTS  # the last one is whatever no other is


def edition_of(variables: Mapping[str, str]) -> str:
    """By what a server's variables say, as far as it has them; empty: none that is known."""
    found = (
        each.name for each in EDITIONS if re.search(each.pattern, variables.get(each.variable) or "", re.IGNORECASE)
    )
    return next(found, "")


def is_managed(edition: str) -> bool:
    return any(each.name == edition and each.is_managed for each in EDITIONS)


def local_product(name: str) -> LocalProduct:
    """By its name; empty: of a server from before there were several."""
    return next((each for each in LOCAL_PRODUCTS if each.name == name), DEFAULT_PRODUCT)


def product_of(version: str) -> Product:
    """Of a server, by its `@@version`."""
    return next(product for product in PRODUCTS if product.version_mark in version.lower())
