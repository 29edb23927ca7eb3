"""The facts about a server that the rules need, read together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from controlplane.gateway.errors import RefusedStatement
from controlplane.gateway.numbers import decimal, whole
from controlplane.gateway.product import PRODUCTS, TableStatistics, product_of
from controlplane.gateway.server import Server

# Schemas whose tables are never cached; statements such as GRANT write to them.
SYSTEM_SCHEMAS = ("mysql", "sys", "performance_schema", "information_schema")
NOT_TABLES = "|".join(product.not_tables for product in PRODUCTS if product.not_tables)


@dataclass(frozen=True)
class TableUse:
    schema: str
    table: str
    rows_read: int
    rows_changed: int


@dataclass(frozen=True)
class Readings:
    class_memory_bytes: int
    variables: dict[str, str]
    status: dict[str, str]
    tables: list[TableUse] = field(default_factory=list)
    has_table_statistics: bool = False

    def number(self, name: str) -> int:
        return int(decimal(self.variables.get(name) or self.status.get(name)) or 0)


def read(server: Server, class_memory_bytes: int) -> Readings:
    variables = server.variables()
    has_statistics = has_statistics_on(variables)
    return Readings(class_memory_bytes, variables, server.status(), tables_of(server, variables), has_statistics)


def has_statistics_on(variables: Mapping[str, str]) -> bool:
    return variables.get(statistics_of(variables).switch, "OFF").upper() in ("ON", "1")


def tables_of(server: Server, variables: Mapping[str, str]) -> list[TableUse]:
    """Returns how much each table is read and written. Empty if the server does not count that."""
    return _tables(server, statistics_of(variables).query) if has_statistics_on(variables) else []


def statistics_of(variables: Mapping[str, str]) -> TableStatistics:
    return product_of(variables.get("version", "")).statistics


def _tables(server: Server, query: str) -> list[TableUse]:
    try:
        return [
            TableUse(str(row[0]), str(row[1]), *(whole(str(cell)) or 0 for cell in row[2:4]))
            for row in server.rows(query, [SYSTEM_SCHEMAS, NOT_TABLES])
        ]
    except RefusedStatement:
        return []  # a server without this table has no statistics about tables
