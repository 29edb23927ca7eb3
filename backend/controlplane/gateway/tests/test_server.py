import socket
import threading
import time
from types import SimpleNamespace

import pytest
from pymysql.constants import CR
from pymysql.err import OperationalError

from controlplane.gateway.endpoint import checked_addresses, is_allowed
from controlplane.gateway.errors import AccessDenied, NotAServer, RefusedEndpoint, RefusedStatement, Unreachable
from controlplane.gateway.server import Limits, open_server, translate
from controlplane.gateway.tests.dribble import dribbling
from controlplane.gateway.tests.stranger import GREETINGS, stranger
from testing.servers import LIMITS


@pytest.fixture
def server(shared_server):
    connection = shared_server.connect()
    yield connection
    connection.close()


def test_a_global_variable_is_set_and_read_back(server):
    server.set_global("long_query_time", "2.5")
    assert float(server.variable("long_query_time")) == 2.5
    server.set_global_default("long_query_time")
    assert float(server.variable("long_query_time")) == 10


def test_an_unknown_variable_reads_as_none_and_cannot_be_set(server):
    assert server.variable("no_such_variable") is None
    with pytest.raises(RefusedStatement) as caught:
        server.set_global("no_such_variable", 1)
    assert caught.value.is_permanent


def test_an_error_is_known_by_its_number_and_not_by_a_port_that_contains_another(server, monkeypatch):
    monkeypatch.setattr(server, "place", "127.0.0.1:11193")
    with pytest.raises(RefusedStatement, match="1193") as caught:
        server.variable("last_insert_id")  # a variable that only sessions have
    assert caught.value.number == 1238


@pytest.mark.parametrize(("number", "kept"), [(1927, 1927), (1040, 1040), (1053, 1053), (CR.CR_SERVER_LOST, 0)])
def test_a_server_that_is_gone_is_unreachable_and_its_own_number_is_kept(number, kept):
    error = translate(OperationalError(number, "gone"), "127.0.0.1:1193")
    assert isinstance(error, Unreachable)
    assert (error.number, error.is_permanent) == (kept, False)


@pytest.mark.parametrize("name", ["a`b", "x = 1, y", "", "UPPER", "a.b.c", "a" * 65])
def test_only_plain_names_reach_a_statement(server, name):
    with pytest.raises(RefusedStatement, match="is not a variable's name"):
        server.set_global(name, 1)


def test_the_caches_names_reach_the_engine_and_not_the_servers_own_cache(server):
    server.set_global("query_cache_limit", 65536)
    try:
        assert server.value("SELECT @@GLOBAL.fqc_limit") == 65536
        assert server.variables()["query_cache_limit"] == "65536"
    finally:
        server.set_global_default("query_cache_limit")


def test_a_wrong_password_is_a_permanent_error(shared_server):
    class Stranger:
        host, port, username, password = "127.0.0.1", shared_server.port, "fqc", "wrong"
        is_tls_required, tls_ca, public_key = False, "", ""

    with pytest.raises(AccessDenied) as caught:
        open_server(Stranger, LIMITS)
    assert caught.value.is_permanent


class Nobody:
    host, username, password, is_tls_required, tls_ca, public_key = "127.0.0.1", "x", "x", False, "", ""

    def __init__(self, port):
        self.port = port


def test_a_closed_port_is_worth_another_try(own_port):
    with pytest.raises(Unreachable) as caught:
        open_server(Nobody(own_port), LIMITS)
    assert not caught.value.is_permanent


@pytest.fixture
def own_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        yield probe.getsockname()[1]  # bound but not listening, so connections are refused


@pytest.mark.parametrize("greeting", GREETINGS)
def test_what_is_no_mysql_server_is_told_so(greeting):
    with stranger(greeting) as port, pytest.raises(NotAServer, match="Check host and port") as caught:
        open_server(Nobody(port), LIMITS)
    assert caught.value.is_permanent
    # the text of other services must not be shown
    assert "SSH" not in caught.value.detail and "HTTP" not in caught.value.detail


def test_a_server_that_accepts_and_says_nothing_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        held = []
        threading.Thread(target=lambda: held.append(silent.accept()), daemon=True).start()
        with pytest.raises(Unreachable):
            open_server(Nobody(silent.getsockname()[1]), Limits(("127.0.0.0/8",), connect_seconds=1))


def test_a_statement_that_hangs_is_given_up(shared_server):
    server = open_server(shared_server, Limits(("127.0.0.0/8",), 5, statement_seconds=1))
    with pytest.raises(Unreachable):
        server.rows("SELECT SLEEP(30)")
    server.close()


ONE_SECOND = Limits(("127.0.0.0/8",), 1, statement_seconds=1)


def at(port, server):
    return SimpleNamespace(
        host="127.0.0.1",
        port=port,
        username=server.username,
        password=server.password,
        is_tls_required=False,
        tls_ca="",
        public_key="",
    )


def test_a_server_that_greets_byte_by_byte_is_given_up(shared_server):
    with dribbling(shared_server.port) as proxy:
        proxy.begin()
        with pytest.raises(Unreachable, match="did not arrive"):
            open_server(at(proxy.port, shared_server), ONE_SECOND)


def test_a_server_that_answers_byte_by_byte_is_given_up(shared_server):
    """A byte arrives every twentieth of a second and the whole answer would take half an hour: the statement fails at
    its time limit.
    """
    with dribbling(shared_server.port, b"SHOW GLOBAL VARIABLES") as proxy:
        server = open_server(at(proxy.port, shared_server), Limits(("127.0.0.0/8",), 60, statement_seconds=1))
        with pytest.raises(Unreachable, match="did not arrive"):
            server.variables()
        server.close()


def test_a_conversation_ends_when_its_owner_said_whatever_is_left_to_ask(shared_server):
    server = open_server(shared_server, LIMITS)
    server.until = time.monotonic() + 1
    with pytest.raises(Unreachable):
        while True:
            server.rows("SELECT SLEEP(0.01)")
    with pytest.raises(Unreachable):
        server.rows("SELECT 1")
    server.close()


def test_an_answer_of_many_reads_arrives_whole(shared_server):
    server = shared_server.connect()
    assert server.value("SELECT REPEAT('x', 15000000)") == "x" * 15_000_000
    assert len(server.rows("SELECT seq FROM mysql.seq_1_to_20000")) == 20_000
    server.close()


@pytest.mark.parametrize(
    ("address", "networks", "allowed"),
    [
        ("10.1.2.3", ["10.0.0.0/8"], True),
        ("11.1.2.3", ["10.0.0.0/8"], False),
        ("169.254.169.254", ["10.0.0.0/8", "192.168.0.0/16"], False),
        ("::ffff:10.1.2.3", ["10.0.0.0/8"], True),
        ("::ffff:169.254.169.254", ["10.0.0.0/8", "::1/128"], False),
        ("::1", ["127.0.0.0/8"], False),
        ("fe80::1%eth0", ["fe80::/10"], True),
        ("10.1.2.3", [], False),
    ],
)
def test_addresses_outside_the_networks_are_refused(address, networks, allowed):
    assert is_allowed(address, networks) is allowed


def named(server, host):
    return SimpleNamespace(
        host=host,
        port=server.port,
        username=server.username,
        password=server.password,
        is_tls_required=False,
        tls_ca="",
        public_key="",
    )


def test_a_name_that_resolves_elsewhere_a_moment_later_changes_nothing(shared_server, monkeypatch):
    """The first lookup of the name returns the server, every later one an address that is not allowed.

    A connection looks the name up only once; the next one is refused.
    """
    true = socket.getaddrinfo
    asked = []

    def rebinding(host, port, *more, **facts):
        if host != "db.example":
            return true(host, port, *more, **facts)
        asked.append(host)
        return true("127.0.0.1" if len(asked) == 1 else "192.0.2.1", port, *more, **facts)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    server = open_server(named(shared_server, "db.example"), LIMITS)
    assert server.value("SELECT 1") == 1
    server.close()
    assert len(asked) == 1
    with pytest.raises(RefusedEndpoint, match=r"192\.0\.2\.1"):
        open_server(named(shared_server, "db.example"), LIMITS)


def test_one_address_outside_the_networks_spoils_the_name(monkeypatch):
    true = socket.getaddrinfo

    def both(host, port, *more, **facts):
        return [entry for address in ("127.0.0.1", "192.0.2.1") for entry in true(address, port, *more, **facts)]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with pytest.raises(RefusedEndpoint):
        checked_addresses("db.example", ["127.0.0.0/8"], 60)


def test_a_name_is_judged_by_the_address_it_resolves_to():
    assert set(checked_addresses("localhost", ["127.0.0.0/8", "::1/128"], 60)) <= {"127.0.0.1", "::1"}
    with pytest.raises(RefusedEndpoint, match="outside the allowed networks"):
        checked_addresses("localhost", ["10.0.0.0/8"], 60)
