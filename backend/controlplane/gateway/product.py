"""What differs from one server product to another, as data: a `Product` says it once, and its users ask it. Pure.

An instance may be a server of any of them. Servers of a `LocalProduct` can also be made on this machine, and the engine
can be loaded into them. The accounts of local servers are in `local_accounts`.
"""

from __future__ import annotations

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
    query: str  # given the schemas to leave out, and a pattern of tables to leave out


@dataclass(frozen=True)
class Product:
    name: str  # of its lines in the catalogue, too: MariaDB, mariadb-10.11
    version_mark: str  # in lower case, what every version text of it has
    # The rows that `catalogue.server_variables` reads; empty: the product does not describe its variables.
    variables_query: str
    statistics: TableStatistics
    not_tables: str  # a pattern of tables that hold nothing, though they are counted like others; empty: there are none
    account_tables: tuple[str, ...]  # where it keeps what its accounts log in with
    time_limit: TimeLimit
    # Numbers of errors that it alone has, by what they mean: the connection was killed, the statement took too long.
    killed_errors: frozenset[int]
    timeout_errors: frozenset[int]


@dataclass(frozen=True)
class LocalProduct(Product):
    program: str
    package: str  # that brings its programs
    make_databases: tuple[str, ...]  # a command, where {data}, {tmp} and {user} stand for what they are
    section: str  # of an option file
    options: tuple[str, ...]  # that people may configure otherwise
    pool_limit_option: str  # how far the buffer pool may grow while the server runs
    install_engine: str
    engine_installed_errors: frozenset[int]  # it is already there


# Percona's MySQL has them as well.
USER_STATISTICS = TableStatistics(
    switch="userstat",
    query="SELECT TABLE_SCHEMA, TABLE_NAME, ROWS_READ, ROWS_CHANGED FROM information_schema.TABLE_STATISTICS"
    " WHERE TABLE_SCHEMA NOT IN %s AND TABLE_NAME NOT REGEXP %s"
    " ORDER BY ROWS_READ + ROWS_CHANGED DESC LIMIT 200",
)

MARIADB = LocalProduct(
    name="MariaDB",
    version_mark="mariadb",
    variables_query="SELECT LOWER(VARIABLE_NAME), VARIABLE_TYPE, DEFAULT_VALUE, VARIABLE_SCOPE, VARIABLE_COMMENT,"
    " NUMERIC_MIN_VALUE, NUMERIC_MAX_VALUE, NUMERIC_BLOCK_SIZE, ENUM_VALUE_LIST, READ_ONLY, COMMAND_LINE_ARGUMENT"
    " FROM information_schema.SYSTEM_VARIABLES",
    statistics=USER_STATISTICS,
    not_tables="^seq_[0-9]+_to_[0-9]+(_step_[0-9]+)?$",  # of the SEQUENCE engine
    account_tables=("mysql.global_priv", "mysql.user"),
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
    install_engine="INSTALL SONAME 'fqc'",
    engine_installed_errors=frozenset({1968, 1125}),  # the plugin, or its function
)

MYSQL = Product(
    name="MySQL",
    version_mark="",
    variables_query="",
    statistics=USER_STATISTICS,
    not_tables="",
    account_tables=("mysql.user",),
    time_limit=TimeLimit("max_execution_time", is_in_milliseconds=True),
    killed_errors=frozenset(),
    timeout_errors=frozenset({3024}),
)

NO_PRIVILEGE_ERRORS = frozenset({1142, 1143})  # of every product: on the table, on a column of it
PRODUCTS: tuple[Product, ...] = (MARIADB, MYSQL)  # the last one is whatever no other is
ENGINE_PRODUCT = MARIADB  # the engine is built for it alone


def product_of(version: str) -> Product:
    """Of a server, by its `@@version`."""
    return next(product for product in PRODUCTS if product.version_mark in version.lower())
