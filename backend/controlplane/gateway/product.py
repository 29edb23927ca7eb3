"""Differences between server products, as data: each `Product` states its own, and callers ask the product. Pure.

An instance may be a server of any product. Servers of a `LocalProduct` can also be made on this machine. The engine
loads into a product if its library exports the symbol that the product looks for (`engine_symbol`). The accounts of
local servers are in `local_accounts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class TimeLimit:
    """The session variable that limits how long a statement may run; the server then ends the statement."""

    name: str
    is_in_milliseconds: bool


@dataclass(frozen=True)
class TableStatistics:
    """How to read from a server the number of rows read and changed per table."""

    switch: str  # the variable that must be on for the server to count
    is_switched_at_start: bool  # true if only the option file can turn the switch on
    query: str  # its parameters: the schemas to leave out, then a pattern of tables to leave out


@dataclass(frozen=True)
class Edition:
    """The builder or provider of a server, such as Debian or Amazon RDS.

    A server belongs to it if the regular expression `pattern` is found in the value of its variable `variable`; the
    first match counts.
    """

    name: str
    variable: str
    pattern: str
    is_managed: bool = False  # true if only the provider has access to the server's machine


@dataclass(frozen=True)
class Product:
    name: str  # also the prefix of its engine lines in the catalogue: MariaDB, mariadb-10.11
    version_mark: str  # a lower-case text that every version string of this product contains; empty matches all
    # Queries whose rows `catalogue.server_variables` reads. The first query that the server understands is used. A
    # server that understands none cannot describe its variables.
    variables_queries: tuple[str, ...]
    # A variable that no server of this product allows anybody to set. `variables` uses it to find out which variables
    # can be set on servers that do not list this. Empty: servers list it themselves.
    never_set: str
    # An assignment to a global variable that every server of this product refuses, whatever the account's privileges,
    # before it makes any other assignment of the same statement.
    never_assigned: str
    # The server persists SET PERSIST values over a restart if this variable is ON. Empty: the product cannot persist
    # values.
    keeping_switch: str
    engine_symbol: bytes  # the symbol that a library exports if this product can load it
    install_engine: tuple[str, ...]
    statistics: TableStatistics
    # A prefix of versions, and the statement that lists the replication channels of such a server. The first prefix
    # that matches counts.
    replication_statuses: tuple[tuple[str, str], ...]
    # A prefix of versions, and the query that sums up the bytes of InnoDB's files on such a server. The first prefix
    # that matches counts.
    tablespace_sums: tuple[tuple[str, str], ...]
    # A query for the path of each mounted file system, and its used and available KiB. Empty: servers cannot tell.
    disks: str
    not_tables: str  # a regular expression: tables that are counted but hold no data; empty if there are none
    account_tables: tuple[str, ...]  # the tables that store the accounts and their passwords
    # true if a starting server deletes temporary tables in tmpdir, even those of other servers
    start_empties_tmpdir: bool
    time_limit: TimeLimit
    # The error numbers, used by this product only, of a connection that was killed.
    killed_errors: frozenset[int]
    # The error numbers, used by this product only, of a statement that exceeded `time_limit`.
    timeout_errors: frozenset[int]


@dataclass(frozen=True)
class LocalProduct(Product):
    program: str
    package: str  # the package that contains the programs, to name in messages
    # A command that creates empty databases. {data}, {tmp} and {user} are replaced by the folders and the system user,
    # {init} by a file of SQL statements.
    make_databases: tuple[str, ...]
    section: str  # the section of the option file that the server reads
    options: tuple[str, ...]  # defaults that users may override in the configuration
    # the option that limits how far the buffer pool may grow while the server runs; empty if there is no limit
    pool_limit_option: str
    public_key_file: str  # the file in the data folder with the key that encrypts passwords; empty if there is none
    # The account with all privileges that the control plane uses through the server's socket. Its password is set when
    # the server is made. Empty: socket authentication with the name of the system user that runs the server.
    owner: str
    engine_installed_errors: frozenset[int]  # errors of `install_engine`: the engine is installed already


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
    replication_statuses=(("", "SHOW ALL SLAVES STATUS"),),
    tablespace_sums=(("", "SELECT SUM(ALLOCATED_SIZE) FROM information_schema.INNODB_SYS_TABLESPACES"),),
    # The table exists if the plugin of this name is loaded. It is empty for accounts without the privilege FILE.
    disks="SELECT Path, Used, Available FROM information_schema.DISKS",
    not_tables="^seq_[0-9]+_to_[0-9]+(_step_[0-9]+)?$",  # virtual tables of the SEQUENCE engine
    account_tables=("mysql.global_priv", "mysql.user"),
    start_empties_tmpdir=True,
    time_limit=TimeLimit("max_statement_time", is_in_milliseconds=False),
    killed_errors=frozenset({1927}),
    timeout_errors=frozenset({1969}),
    program="mariadbd",
    package="mariadb-server-core",
    make_databases=(
        "mariadb-install-db",
        # This must be the first argument. The option files of the machine's own server must not be read.
        "--no-defaults",
        "--datadir={data}",
        "--tmpdir={tmp}",
        "--user={user}",
        "--auth-root-authentication-method=socket",
        "--skip-test-db",
        "--skip-name-resolve",
        # Without this the program looks up the machine's host name, which we do not use, and fails if it is unknown.
        "--force",
    ),
    section="mariadbd",
    options=(
        "loose-getopt-prefix-matching=OFF",  # first, so that no later option may be abbreviated
        "skip-name-resolve",
        "skip-log-bin",
        "innodb-log-file-size=32M",
        # The default of 128 MB is only used by MyISAM tables and would be a quarter of a small class's memory.
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
    engine_installed_errors=frozenset({1968, 1125}),  # the plugin is installed; its function exists
)

# The columns that both tables have in every version since 8.0. A value whose source is COMPILED is the default.
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
# The table of tablespaces leaves out the system tablespace. Some versions state no size there for undo logs and
# temporary tables. So all these are read from FILES, which in turn has no size for small tables.
_MYSQL_TABLESPACES = (
    "SELECT (SELECT COALESCE(SUM(ALLOCATED_SIZE), 0) FROM information_schema.%s"
    " WHERE SPACE_TYPE IN ('General', 'Single'))"
    " + (SELECT COALESCE(SUM(TOTAL_EXTENTS * EXTENT_SIZE), 0) FROM information_schema.FILES"
    " WHERE FILE_TYPE IN ('UNDO LOG', 'TEMPORARY') OR TABLESPACE_NAME = 'innodb_system')"
)

MYSQL = LocalProduct(
    name="MySQL",
    version_mark="",
    variables_queries=(
        # Servers since 9.1 describe their variables in variables_metadata.
        "SELECT LOWER(m.VARIABLE_NAME), CASE m.DATA_TYPE WHEN 'Boolean' THEN 'BOOLEAN' WHEN 'Enumeration' THEN 'ENUM'"
        f" WHEN 'Set' THEN IF({_MYSQL_FLAGS}, 'FLAGSET', 'SET') WHEN 'Numeric' THEN 'DOUBLE'"
        f" WHEN 'Integer' THEN 'BIGINT' ELSE 'VARCHAR' END, {_MYSQL_DEFAULT},"
        " REPLACE(m.VARIABLE_SCOPE, '_', ' '), m.DOCUMENTATION, " + _MYSQL_RANGE.replace("%s", "m") + _MYSQL_VALUES + ""
        " JOIN performance_schema.variables_metadata m ON m.VARIABLE_NAME = i.VARIABLE_NAME",
        # 8.0 and 8.4 have no metadata. The type is guessed from the value's form; a value that could be a text is one.
        f"SELECT LOWER(i.VARIABLE_NAME), {_MYSQL_GUESSED}, {_MYSQL_DEFAULT},"
        " IF(g.VARIABLE_NAME IS NULL, 'SESSION ONLY', 'GLOBAL'), '',"
        " IF(i.MAX_VALUE = '0', NULL, i.MIN_VALUE), IF(i.MAX_VALUE = '0', NULL, i.MAX_VALUE), NULL, NULL, NULL, NULL"
        + _MYSQL_VALUES,
        # 5.7 only gives values.
        "SELECT LOWER(g.VARIABLE_NAME), " + _MYSQL_GUESSED + _MYSQL_VALUES_OF_5_7,
    ),
    never_set="datadir",
    # MySQL checks privileges before values, but after it has checked whether a variable can be set at all.
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
    # The newer words came with 8.0.22, and 8.4 has dropped the older ones.
    replication_statuses=(
        ("5.", "SHOW SLAVE STATUS"),
        ("8.0.", "SHOW SLAVE STATUS"),
        ("", "SHOW REPLICA STATUS"),
    ),
    tablespace_sums=(
        ("5.", _MYSQL_TABLESPACES % "INNODB_SYS_TABLESPACES"),
        ("", _MYSQL_TABLESPACES % "INNODB_TABLESPACES"),
    ),
    disks="",
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
        "--initialize-insecure",  # the account gets its password before the server can be reached
        "--init-file={init}",
        "--datadir={data}",
        "--tmpdir={tmp}",
        "--user={user}",
        "--skip-name-resolve",
        "--loose-innodb-redo-log-capacity=32M",
    ),
    section="mysqld",
    # Older versions do not know all of these, hence the prefix `loose-`.
    options=(
        "skip-name-resolve",
        "skip-log-bin",
        "loose-mysqlx=OFF",  # the X plugin would listen on a port of its own
        "loose-innodb-redo-log-capacity=32M",
        "key-buffer-size=16M",
        # Persisted values would override the option file. All configuration is in that file, where users see it.
        "loose-persisted-globals-load=OFF",
    ),
    pool_limit_option="",
    public_key_file="public_key.pem",
    owner="root",
    engine_symbol=b"_mysql_plugin_declarations_",
    install_engine=tuple(f"INSTALL PLUGIN {name} SONAME 'fqc.so'" for name in ("fqc", "fqc_events", "query")),
    engine_installed_errors=frozenset({1125}),
)

# Editions are recognised by these variables. The version string alone only identifies the product.
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

NO_PRIVILEGE_ERRORS = frozenset({1142, 1143})  # in every product: on a table, on a column
LACKS_PRIVILEGE_ERRORS = NO_PRIVILEGE_ERRORS | {1227, 1370}  # for the operation itself, on a routine
DEFAULT_PRODUCT = MARIADB  # used for local servers without a stored product, and the product of the first engine
LOCAL_PRODUCTS: tuple[LocalProduct, ...] = (MARIADB, MYSQL)
PRODUCTS: tuple[Product, ...] = LOCAL_PRODUCTS  # the last one matches every version that the others do not


def edition_of(variables: Mapping[str, str]) -> str:
    """Returns the edition, that is, the server's builder or provider such as Debian or Amazon RDS; empty if it is
    unknown.

    `variables` are the server's global variables; some may be missing.
    """
    found = (
        each.name for each in EDITIONS if re.search(each.pattern, variables.get(each.variable) or "", re.IGNORECASE)
    )
    return next(found, "")


def is_managed(edition: str) -> bool:
    return any(each.name == edition and each.is_managed for each in EDITIONS)


def local_product(name: str) -> LocalProduct:
    """Returns the local product of this name, and MariaDB for any other name: servers from before there were several
    products have none.
    """
    return next((each for each in LOCAL_PRODUCTS if each.name == name), DEFAULT_PRODUCT)


def product_of(version: str) -> Product:
    """Returns the product that an `@@version` string belongs to: MariaDB if the string names it, else MySQL."""
    return next(product for product in PRODUCTS if product.version_mark in version.lower())


def replication_status(version: str) -> str:
    """Returns the statement that lists the replication channels of a server of this `@@version`."""
    return _of_version(product_of(version).replication_statuses, version)


def tablespace_sum(version: str) -> str:
    """Returns the query that sums up the bytes of InnoDB's files on a server of this `@@version`."""
    return _of_version(product_of(version).tablespace_sums, version)


def _of_version(statements: Iterable[tuple[str, str]], version: str) -> str:
    return next(statement for prefix, statement in statements if version.startswith(prefix))
