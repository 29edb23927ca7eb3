"""Names whose resolver does not answer: given up in time, by everybody who needs one."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from email.message import EmailMessage
from types import SimpleNamespace
from typing import Any

import pytest

from controlplane.gateway import look_up as module
from controlplane.gateway.errors import Unreachable
from controlplane.gateway.look_up import look_up
from controlplane.gateway.mail import MailServer, MailServerFailed, deliver
from controlplane.gateway.server import Limits, open_server
from testing.servers import LIMITS, TestServer
from testing.workers import until

ANYWHERE = ("127.0.0.0/8", "::1/128")


@pytest.fixture
def silent_resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Yields an event.

    Until it is set, looking up names of `.example` blocks; afterwards they resolve to the loopback address. Other names
    resolve as usual.
    """
    true, answers = socket.getaddrinfo, threading.Event()

    def getaddrinfo(host: str, *more: Any, **facts: Any) -> Any:
        if host.endswith(".example"):
            answers.wait()
            host = "127.0.0.1"
        return true(host, *more, **facts)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield answers
    answers.set()
    until(lambda: not any("look up" in thread.name for thread in threading.enumerate()), "all look-ups have ended")


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the product look up only one name at a time, so that a second lookup must wait."""
    monkeypatch.setattr(module, "_turns", threading.BoundedSemaphore(1))


@pytest.mark.usefixtures("silent_resolver")
def test_a_server_is_given_up() -> None:
    account = {"username": "fqc", "password": "any", "is_tls_required": False, "tls_ca": "", "public_key": ""}
    with pytest.raises(Unreachable, match="no answer within 1 s"):
        open_server(SimpleNamespace(host="db.example", port=3306, **account), Limits(ANYWHERE, connect_seconds=1))


@pytest.mark.usefixtures("silent_resolver")
def test_a_mail_server_is_given_up() -> None:
    message = EmailMessage()
    message["From"] = "fqc@example.com"
    with pytest.raises(MailServerFailed, match="within 1 s"):
        deliver(
            message, ["dba@example.com"], MailServer("mail.example", 25, networks=("127.0.0.0/8",), timeout_seconds=1)
        )


@pytest.mark.usefixtures("turns", "silent_resolver")
def test_look_ups_that_hang_do_not_pile_up() -> None:
    threads = threading.active_count()
    for number in range(5):
        with pytest.raises(TimeoutError):
            look_up(f"db-{number}.example", 0.05)
    assert threading.active_count() <= threads + 1


def test_names_are_looked_up_again_once_the_resolver_answers(turns: None, silent_resolver: threading.Event) -> None:
    with pytest.raises(TimeoutError):
        look_up("db.example", 0.05)
    silent_resolver.set()
    assert look_up("db.example", 60) == ["127.0.0.1"]


@pytest.mark.usefixtures("turns", "silent_resolver")
def test_an_address_asks_no_resolver() -> None:
    with pytest.raises(TimeoutError):
        look_up("db.example", 0.05)
    assert look_up("127.0.0.1", 0.05) == ["127.0.0.1"]
    assert look_up("fe80::1%eth0", 0.05) == ["fe80::1%eth0"]


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "a" * 64])
def test_what_is_no_name_is_told(host: str) -> None:
    with pytest.raises(OSError):
        look_up(host, 60)


def test_of_several_addresses_the_one_that_answers_is_taken(
    shared_server: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name has two addresses and the server listens on the second only, as `localhost` on some machines; the
    connection succeeds.
    """
    monkeypatch.setattr("controlplane.gateway.endpoint.look_up", lambda *_: ["127.0.0.99", "127.0.0.1"])
    names = ("port", "username", "password", "is_tls_required", "tls_ca", "public_key")
    facts = {name: getattr(shared_server, name) for name in names}
    server = open_server(SimpleNamespace(host="localhost", **facts), LIMITS)
    assert server.value("SELECT 1") == 1
    server.close()
