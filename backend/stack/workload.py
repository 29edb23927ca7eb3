"""A small shop's day: many reads that repeat, some that do not, and a few writes. For demonstrations, not for figures.

    FQC_DEMO_PASSWORD=... python -m stack.workload --user demo 127.0.0.1:13306 127.0.0.1:13307

Products are asked for by a Zipf-like popularity, with literal values, as many applications do; the rate is bounded, so
that a laptop stays usable. Writes touch single rows of the same tables, so that a chart shows what they cost the cache.
"""

import argparse
import os
import random
import sys
import threading
import time
from dataclasses import dataclass
from itertools import accumulate

import pymysql
from pymysql.constants import ER
from pymysql.cursors import Cursor

SCHEMA = "demo"
PRODUCTS = 500
CATEGORIES = 20
CONNECTIONS_PER_SERVER = 2
STATEMENTS_PER_SECOND = 150  # per connection
# The shares of all statements that write, and that are reads whose text does not come again.
WRITE_SHARE = 0.001
UNREPEATED_SHARE = 0.05
_REPORT_SECONDS = 10.0

_POPULARITY = list(accumulate(1.0 / rank for rank in range(1, PRODUCTS + 1)))
_TABLES = (
    "CREATE TABLE IF NOT EXISTS product (id INT PRIMARY KEY, category INT NOT NULL, name VARCHAR(80) NOT NULL,"
    " price_cents INT NOT NULL, stock INT NOT NULL, KEY (category)) ENGINE=InnoDB",
    "CREATE TABLE IF NOT EXISTS review (id INT PRIMARY KEY AUTO_INCREMENT, product INT NOT NULL, stars INT NOT NULL,"
    " words VARCHAR(200) NOT NULL, KEY (product)) ENGINE=InnoDB",
)


@dataclass(frozen=True)
class Account:
    host: str
    port: int
    user: str
    password: str
    public_key: str = ""  # the server's public key, which encrypts the password
    socket: str = ""  # the socket of a near cache in front of the server

    def connect(self) -> "pymysql.Connection[Cursor]":
        return pymysql.connect(
            host=self.host, port=self.port, user=self.user, password=self.password, autocommit=True, connect_timeout=10,
            server_public_key=self.public_key.encode() or None, unix_socket=self.socket or None,
        )  # fmt: skip


@dataclass
class Counts:
    reads: int = 0
    writes: int = 0


def prepare(account: Account) -> None:
    """Makes the schema and its rows, unless they are there already."""
    with account.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE IF NOT EXISTS {SCHEMA}")
        cursor.execute(f"USE {SCHEMA}")
        for table in _TABLES:
            cursor.execute(table)
        cursor.execute("SELECT COUNT(*) FROM product")
        if cursor.fetchall() != ((PRODUCTS,),):
            cursor.executemany("INSERT IGNORE INTO product VALUES (%s, %s, %s, %s, 1000)", _products())
            cursor.executemany("INSERT INTO review (product, stars, words) VALUES (%s, %s, %s)", _reviews())


def _products() -> list[tuple[int, int, str, int]]:
    return [(each, each % CATEGORIES, f"product {each}", 100 + each * 7 % 9900) for each in range(1, PRODUCTS + 1)]


def _reviews() -> list[tuple[int, int, str]]:
    return [(1 + each % PRODUCTS, 1 + each % 5, "fine " * (1 + each % 20)) for each in range(1, PRODUCTS * 5 + 1)]


def statement(draw: random.Random) -> tuple[str, bool]:
    """Returns a random statement, and whether it writes."""
    product = draw.choices(range(1, PRODUCTS + 1), cum_weights=_POPULARITY)[0]
    kind = draw.random()
    if kind < WRITE_SHARE / 2:
        return f"UPDATE product SET stock = stock - 1 WHERE id = {product}", True
    if kind < WRITE_SHARE:
        stars = draw.randint(1, 5)
        return f"INSERT INTO review (product, stars, words) VALUES ({product}, {stars}, 'as described')", True
    if kind < WRITE_SHARE + UNREPEATED_SHARE:
        return f"SELECT id, name FROM product WHERE price_cents > {draw.randrange(10**9)} ORDER BY id LIMIT 10", False
    reads = (
        f"SELECT name, price_cents, stock FROM product WHERE id = {product}",
        f"SELECT stars, words FROM review WHERE product = {product} ORDER BY id DESC LIMIT 5",
        f"SELECT COUNT(*), AVG(stars) FROM review WHERE product = {product}",
        f"SELECT id, name FROM product WHERE category = {product % CATEGORIES} ORDER BY price_cents LIMIT 20",
    )
    return draw.choices(reads, weights=(6, 2, 2, 1))[0], False


def shop(account: Account, counts: Counts, stop: threading.Event, seed: int) -> None:
    """Runs one customer's connection until `stop` is set, and connects again after an error. Sets `stop` itself if
    its account was replaced."""
    draw = random.Random(seed)
    while not stop.is_set():
        try:
            with account.connect() as connection, connection.cursor() as cursor:
                cursor.execute(f"USE {SCHEMA}")
                _run_at_rate(cursor, draw, counts, stop)
        except pymysql.MySQLError as error:
            is_another = error.args[0] == ER.ACCESS_DENIED_ERROR
            then = "another demo was started, or the data forgotten" if is_another else "trying again"
            print(f"demo: {account.host}:{account.port}: {error}; {then}", file=sys.stderr, flush=True)
            if is_another:
                stop.set()
            stop.wait(2.0)


def _run_at_rate(cursor: Cursor, draw: random.Random, counts: Counts, stop: threading.Event) -> None:
    due = time.monotonic()
    while not stop.is_set():
        sql, is_write = statement(draw)
        cursor.execute(sql)
        counts.writes += is_write
        counts.reads += not is_write
        due = max(due + 1.0 / STATEMENTS_PER_SECOND, time.monotonic() - 1.0)
        stop.wait(due - time.monotonic())


def run(accounts: list[Account], seconds: float | None) -> None:
    """Runs the workload with a connection per account, for this time or, if `seconds` is None, until an interrupt.

    The same account may be given several times. Prints the number of statements every ten seconds.
    """
    for account in dict.fromkeys(accounts):
        prepare(account)
    stop = threading.Event()
    counts = [Counts() for _ in accounts]
    threads = [threading.Thread(target=shop, args=(account, counts[i], stop, i)) for i, account in enumerate(accounts)]
    for thread in threads:
        thread.start()
    try:
        _report_until(time.monotonic() + seconds if seconds is not None else None, counts, stop)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _report_until(end: float | None, counts: list[Counts], stop: threading.Event) -> None:
    before = 0
    while end is None or time.monotonic() < end:
        pause = _REPORT_SECONDS if end is None else min(_REPORT_SECONDS, end - time.monotonic())
        if stop.wait(max(pause, 0.0)):
            return
        reads, writes = sum(c.reads for c in counts), sum(c.writes for c in counts)
        print(
            f"demo: {reads + writes - before} statements in {pause:.0f} s; {reads} reads, {writes} writes so far",
            flush=True,
        )
        before = reads + writes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m stack.workload", description=__doc__)
    parser.add_argument("endpoints", nargs="+", metavar="HOST:PORT")
    parser.add_argument("--user", required=True)
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    password = os.environ.get("FQC_DEMO_PASSWORD")
    if not password:
        print("demo: set FQC_DEMO_PASSWORD to the password of the account", file=sys.stderr)
        return 2
    ends = [endpoint.rsplit(":", 1) for endpoint in options.endpoints]
    try:
        accounts = [Account(host, int(port), options.user, password) for host, port in ends]
        run(accounts * CONNECTIONS_PER_SERVER, options.seconds)
    except pymysql.MySQLError as error:
        print(f"demo: cannot prepare the schema {SCHEMA}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
