"""Clients that send given statements one by one, for counts that do not depend on time.

Each script is a function that sends a few statements per call, and returns how many it has sent.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from itertools import count
from typing import Any, Protocol

import pymysql

from driver.product import Product
from driver.server import SCHEMA, USER

ROWS = 100_000
HOT_ROWS = 100
HOT_SHARE = 0.1
POINT = "SELECT c FROM sbtest1 WHERE id={} LIMIT {}"
RANGES = (
    "SELECT c FROM sbtest1 WHERE id BETWEEN {} AND {}",
    "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN {} AND {}",
    "SELECT c FROM sbtest1 WHERE id BETWEEN {} AND {} ORDER BY c",
    "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN {} AND {} ORDER BY c",
)
COM_STMT_PREPARE, COM_STMT_EXECUTE = 0x16, 0x17
LONGLONG = 8
ANSWER_SECONDS = 300

# Each statement of a run gets another number as its LIMIT. No result depends on it, but it makes the statement new.
_serial = count(1000)


class Reached(Protocol):
    """A server, or a near cache in front of one, that a client can connect to."""

    port: int
    product: Product


class Client:
    def __init__(self, server: Reached) -> None:
        self.connection = pymysql.connect(
            host="127.0.0.1",
            port=server.port,
            user=USER,
            database=SCHEMA,
            autocommit=True,
            ssl_disabled=True,
            read_timeout=ANSWER_SECONDS,
        )
        self._thread = server.product.thread
        # The seed is fixed, so that each run on each server sends the same statements.
        self.random = random.Random(1)
        self._prepared: dict[str, int] = {}

    def query(self, text: str) -> None:
        self.connection.query(text)

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        with self.connection.cursor() as cursor:
            cursor.execute(text)
            return list(cursor.fetchall())

    def thread(self) -> int:
        """Returns the kernel's number of the server's thread that serves this client."""
        return int(self.rows(self._thread)[0][0])

    def execute(self, text: str, *numbers: int) -> None:
        """Executes a prepared statement with these integers as parameters. Prepares it at the first use of the text."""
        if text not in self._prepared:
            self._prepared[text] = self._prepare(text)
        types = struct.pack("<BB", LONGLONG, 0) * len(numbers)
        values = b"".join(struct.pack("<q", number) for number in numbers)
        head = struct.pack("<IBI", self._prepared[text], 0, 1) + bytes((len(numbers) + 7) // 8) + b"\x01"
        self.connection._execute_command(COM_STMT_EXECUTE, head + types + values)
        columns = self._packet()[0]
        self._skip(columns)
        while not self.connection._read_packet().is_eof_packet():
            pass

    def _prepare(self, text: str) -> int:
        self.connection._execute_command(COM_STMT_PREPARE, text)
        _, number, columns, parameters = struct.unpack_from("<BIHH", self._packet())
        self._skip(parameters)
        self._skip(columns)
        return int(number)

    def _skip(self, definitions: int) -> None:
        """Reads this many column definitions, and the packet that ends them, and drops them."""
        for _ in range(definitions + 1 if definitions else 0):
            self._packet()

    def _packet(self) -> bytes:
        return bytes(self.connection._read_packet().get_all_data())


def _any_row(client: Client) -> int:
    return client.random.randint(HOT_ROWS + 1, ROWS)


def hit(client: Client) -> int:
    client.query(POINT.format(1, 1))
    return 1


def read(client: Client) -> int:
    client.query(POINT.format(_any_row(client), next(_serial)))
    return 1


def execute(client: Client) -> int:
    client.execute("SELECT c FROM sbtest1 WHERE id=? LIMIT ?", _any_row(client), next(_serial))
    return 1


def transaction(client: Client) -> int:
    client.query("BEGIN")
    read(client)
    client.query("COMMIT")
    return 3


def large(client: Client) -> int:
    """Reads a result of 120 kB that was not read before."""
    first = client.random.randint(1, ROWS - 1000)
    client.query(f"SELECT c FROM sbtest1 WHERE id BETWEEN {first} AND {first + 999} LIMIT {next(_serial)}")
    return 1


def mix(client: Client) -> int:
    """Runs the mix of table 3: ten point selects and four ranges of 100 rows in a transaction. About a tenth of the
    point selects repeats."""
    client.query("BEGIN")
    for _ in range(10):
        is_hot = client.random.random() < HOT_SHARE
        hot = POINT.format(client.random.randint(1, HOT_ROWS), 1)
        client.query(hot if is_hot else POINT.format(_any_row(client), next(_serial)))
    for text in RANGES:
        first = _any_row(client)
        client.query(text.format(first, first + 99))
    client.query("COMMIT")
    return 16


def write(client: Client) -> int:
    # The column has no index: InnoDB's work for an index depends on what it did before.
    client.query(f"UPDATE sbtest1 SET pad={next(_serial)} WHERE id={_any_row(client)}")
    return 1


def warm_hot_rows(client: Client) -> None:
    for number in range(1, HOT_ROWS + 1):
        client.query(POINT.format(number, 1))


Script = Callable[[Client], int]
