"""Many connections at once, on real servers and on what only pretends to be one."""

import socket
import threading
from contextlib import suppress

import pytest

from controlplane.gateway import bulk
from controlplane.gateway.bulk import Question, ask_all

STATEMENTS = ["SHOW GLOBAL STATUS", "SHOW GLOBAL VARIABLES"]


@pytest.fixture
def servers(shared_server):
    opened = [shared_server.connect() for _ in range(5)]
    yield opened
    for server in opened:
        server.close()


def questions(servers, statements=STATEMENTS):
    return {str(number): Question(server.plain_socket, statements) for number, server in enumerate(servers)}


def test_everybody_answers_what_pymysql_would_read(servers, monkeypatch):
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    found = ask_all(questions(servers), 60)
    expected = dict(servers[0].rows("SHOW GLOBAL VARIABLES"))
    assert len(found) == 5
    for answer in found.values():
        assert answer.values[1] == expected
        assert int(answer.values[0]["Threads_connected"]) >= 5


def test_pymysql_goes_on_with_the_connections(servers):
    ask_all(questions(servers), 60)
    assert [server.value("SELECT 7") for server in servers] == [7] * 5
    assert len(ask_all(questions(servers), 60)) == 5


def test_who_refuses_a_statement_or_has_gone_is_left_out(servers):
    asked = questions(servers[:3])
    asked["wrong"] = Question(servers[3].plain_socket, ["SHOW NONSENSE"])
    servers[0].run(f"KILL {servers[4].value('SELECT CONNECTION_ID()')}")
    asked["gone"] = Question(servers[4].plain_socket, STATEMENTS)
    assert set(ask_all(asked, 60)) == {"0", "1", "2"}


@pytest.fixture
def pretender():
    """Yields both ends of a connection: the client's, and that of the server, which the test plays."""
    near, far = socket.socketpair()
    yield near, far
    near.close()
    far.close()


def test_who_says_nothing_is_given_up(pretender):
    assert ask_all({"silent": Question(pretender[0], STATEMENTS)}, 0.1) == {"silent": None}


def test_who_says_nothing_holds_nobody_up(servers, pretender, monkeypatch):
    near, far = pretender
    ended, end = [], bulk._Round._end

    def hang_up_after_the_others(self, talk):
        end(self, talk)
        ended.append(talk.key)
        if len(ended) == len(servers):
            far.shutdown(socket.SHUT_RDWR)

    monkeypatch.setattr(bulk._Round, "_end", hang_up_after_the_others)
    found = ask_all({"silent": Question(near, STATEMENTS), **questions(servers)}, 600)
    assert (set(found), ended[-1]) == ({"0", "1", "2", "3", "4"}, "silent")


def test_who_answers_byte_by_byte_is_given_up_too(pretender):
    near, far = pretender
    stop = threading.Event()

    def drip():
        far.sendall(b"\xff\xff\x00\x01")
        while not stop.wait(0.05):
            far.sendall(b"x")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        assert ask_all({"dripping": Question(near, STATEMENTS)}, 0.3) == {"dripping": None}
    finally:
        stop.set()
        thread.join()


def test_who_answers_without_end_is_given_up_and_holds_nobody_up(servers, pretender):
    near, far = pretender

    def flood():
        far.sendall(bytes([1, 0, 0, 1, 2]) + bytes([5, 0, 0, 2]) + b"?????" * 3)
        while True:
            far.sendall((bytes([4, 0, 0, 3]) + b"\x01a\x01b") * 1000)

    def until_it_is_hung_up():
        with suppress(OSError):
            flood()

    thread = threading.Thread(target=until_it_is_hung_up)
    thread.start()
    found = ask_all({"flood": Question(near, STATEMENTS), **questions(servers)}, 600)
    near.close()
    thread.join()
    assert set(found) == {"0", "1", "2", "3", "4"}


def test_what_is_no_mysql_is_left_out(pretender):
    near, far = pretender
    far.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 100)
    far.shutdown(socket.SHUT_WR)
    assert ask_all({"web": Question(near, STATEMENTS)}, 60) == {}


def test_names_that_are_no_text_hold_nobody_up(servers, pretender):
    near, far = pretender
    column = bytes([5, 0, 0, 2]) + b"?????"
    row = bytes([4, 0, 0, 3]) + b"\x01\xff\x01b"
    end = bytes([5, 0, 0, 4]) + b"\xfe\x00\x00\x02\x00"
    far.sendall(bytes([1, 0, 0, 1, 2]) + column * 2 + end + row + end)
    found = ask_all({"odd": Question(near, STATEMENTS[:1]), **questions(servers)}, 600)
    assert {"0", "1", "2", "3", "4"} <= set(found)
    assert found["odd"].values == [{"\N{REPLACEMENT CHARACTER}": "b"}]
