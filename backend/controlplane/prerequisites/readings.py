"""What the rules need to know of a server, read in one go."""

from __future__ import annotations

from dataclasses import dataclass, field

from controlplane.gateway.errors import RefusedStatement
from controlplane.gateway.server import Server

# Tables of the SEQUENCE engine are counted like any other, but hold nothing to cache.
SEQUENCE_TABLE = "^seq_[0-9]+_to_[0-9]+(_step_[0-9]+)?$"
SYSTEM_SCHEMAS = ("mysql", "sys", "performance_schema", "information_schema")  # never cached, written by a GRANT
TABLES = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, ROWS_READ, ROWS_CHANGED FROM information_schema.TABLE_STATISTICS"
    " WHERE TABLE_SCHEMA NOT IN %s AND TABLE_NAME NOT REGEXP %s"
    " ORDER BY ROWS_READ + ROWS_CHANGED DESC LIMIT 200"
)


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
        text = self.variables.get(name) or self.status.get(name) or "0"
        return int(float(text)) if text.replace(".", "", 1).isdigit() else 0


def read(server: Server, class_memory_bytes: int) -> Readings:
    variables = server.variables()
    has_statistics = variables.get("userstat", "OFF").upper() in ("ON", "1")
    return Readings(
        class_memory_bytes, variables, server.status(), _tables(server) if has_statistics else [], has_statistics
    )


def _tables(server: Server) -> list[TableUse]:
    try:
        return [
            TableUse(str(row[0]), str(row[1]), int(row[2]), int(row[3]))
            for row in server.rows(TABLES, [SYSTEM_SCHEMAS, SEQUENCE_TABLE])
        ]
    except RefusedStatement:
        return []  # a server without this table has nothing to say about tables
