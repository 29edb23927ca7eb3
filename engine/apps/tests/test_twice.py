"""The proxy sends each read twice to a server, passes on one response, and sends everything else once."""

import struct

import pymysql
import pytest

from driver.certificates import make_certificates
from driver.server import Server
from lab.twice import EXECUTE, PREPARE, Twice


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twice")
    make_certificates(folder / "certificates")
    server = Server(folder / "server", folder / "certificates")
    server.install()
    try:
        server.start(["--max-allowed-packet=64M"])
        server.rows("CREATE USER reader@127.0.0.1")
        server.rows("CREATE DATABASE lab")
        server.rows("GRANT ALL ON lab.* TO reader@127.0.0.1")
        yield server
    finally:
        server.stop()


@pytest.fixture
def proxy(server):
    proxy = Twice(server.port)
    yield proxy
    proxy.stop()


@pytest.fixture
def connection(proxy):
    with connect(proxy) as connection:
        yield connection


def connect(proxy):
    there = {"host": "127.0.0.1", "port": proxy.port, "ssl_disabled": True}
    return pymysql.connect(**there, user="reader", database="lab", autocommit=True)


def asked(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def counted(connection, *statements):
    """The number of reads that the server ran for these statements, and the rows of the last one."""
    count = "SHOW STATUS LIKE 'Com_select'"
    before = int(asked(connection, count)[0][1])
    rows = [asked(connection, statement) for statement in statements][-1]
    return int(asked(connection, count)[0][1]) - before, rows


@pytest.mark.parametrize(
    "read", ["SELECT 1 UNION SELECT 2", " (SELECT 1) UNION (SELECT 2)", "/* a page */ SELECT seq FROM seq_1_to_2"]
)
def test_a_read_is_sent_twice_and_answered_once(connection, read):
    assert counted(connection, read) == (2, [(1,), (2,)])


def test_results_without_rows_and_with_large_ones_are_passed_on_whole(connection):
    count, [[text]] = counted(connection, "SELECT 1 FROM DUAL WHERE 0", "SELECT REPEAT('a', 17000000)")
    assert (count, len(text)) == (4, 17000000)


def test_a_read_that_fails_fails_and_the_connection_goes_on(connection):
    with pytest.raises(pymysql.err.ProgrammingError, match="doesn't exist"):
        asked(connection, "SELECT * FROM missing")
    assert asked(connection, "SELECT 1") == [(1,)]


@pytest.mark.parametrize(
    "read", ["SELECT 1 FOR UPDATE", "SELECT GET_LOCK('a', 0)", "SELECT @a := 1", "SELECT ROW_COUNT()"]
)
def test_a_read_with_an_effect_is_sent_once(connection, read):
    assert counted(connection, read)[0] == 1


def test_a_write_is_sent_once(connection):
    written = ("CREATE OR REPLACE TABLE t (a INT)", "INSERT INTO t VALUES (1)", "INSERT INTO t SELECT a + 1 FROM t")
    assert counted(connection, *written, "SELECT a FROM t ORDER BY a")[1] == [(1,), (2,)]


def test_a_prepared_read_is_executed_twice(connection):
    connection._execute_command(PREPARE, "SELECT 7")
    prepared = connection._read_packet().get_all_data()
    for _ in range(2):
        connection._read_packet()
    execution = prepared[1:5] + struct.pack("<BI", 0, 1)
    before = int(asked(connection, "SHOW STATUS LIKE 'Com_stmt_execute'")[0][1])
    connection._execute_command(EXECUTE, execution)
    packets = [connection._read_packet().get_all_data() for _ in range(5)]
    # Two bytes stand before the number: that of a row, and the bits of values that are NULL.
    assert packets[3][2] == 7
    assert int(asked(connection, "SHOW STATUS LIKE 'Com_stmt_execute'")[0][1]) - before == 2


def test_a_closed_connection_ends_that_to_the_server(server, proxy):
    connection = connect(proxy)
    number = connection.thread_id()
    connection._force_close()
    there = f"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {number}"
    while server.rows(there)[0][0]:
        pass
