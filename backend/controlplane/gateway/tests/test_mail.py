"""Handing mail to a real SMTP server, and the three ways that can fail."""

from __future__ import annotations

import socket
import ssl
import traceback
from base64 import b64encode
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.mail import (
    MailDelayed,
    MailPasswordWithheld,
    MailRefused,
    MailServer,
    MailServerFailed,
    MailServerForbidden,
    MailUncertain,
    deliver,
)
from controlplane.gateway.tests.dribble import dribbling
from controlplane.gateway.tests.hostile import Talk, hostile
from controlplane.gateway.tests.smtp import smtp_server
from controlplane.gateway.tests.test_tls import certified

LOOPBACK = ("127.0.0.0/8",)


def message() -> EmailMessage:
    letter = EmailMessage()
    letter["From"], letter["To"], letter["Subject"] = "fqc@example.com", "dba@example.com", "Größe"
    letter.set_content("a line\n.\nanother line, with an é\n")
    return letter


def server(port: int, **facts: str) -> MailServer:
    return MailServer("127.0.0.1", port, networks=LOOPBACK, timeout_seconds=60, **facts)  # type: ignore[arg-type]


def test_a_message_arrives_as_it_was_written() -> None:
    with smtp_server() as (port, mailbox):
        deliver(message(), ["dba@example.com", "ops@example.com"], server(port))
    [arrived] = mailbox.messages
    assert arrived["Subject"] == "Größe"
    assert arrived.get_content().replace("\r\n", "\n") == "a line\n.\nanother line, with an é\n"
    assert mailbox.recipients == [["dba@example.com", "ops@example.com"]]


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_an_account_is_used_where_one_is_set() -> None:
    with smtp_server(wants_login=True) as (port, mailbox):
        deliver(message(), ["dba@example.com"], server(port, username="fqc", password="right"))
        assert len(mailbox.messages) == 1
        with pytest.raises(MailRefused, match="denied the account 'fqc'"):
            deliver(message(), ["dba@example.com"], server(port, username="fqc", password="wrong"))


def test_a_server_without_tls_is_not_spoken_to_in_plain_when_tls_is_demanded() -> None:
    with smtp_server() as (port, mailbox):
        with pytest.raises(MailServerFailed, match="STARTTLS"):
            deliver(message(), ["dba@example.com"], server(port, security="starttls"))
        assert not mailbox.messages


@pytest.mark.parametrize(("answer", "kind"), [("550 no", MailRefused), ("451 later", MailDelayed)])
def test_the_answer_to_the_text_decides(answer: str, kind: type[Exception]) -> None:
    with smtp_server() as (port, mailbox):
        mailbox.answer_to_data = answer
        with pytest.raises(kind, match=rf"answered {answer[:3]} to the text: {answer[4:]}"):
            deliver(message(), ["dba@example.com"], server(port))


@pytest.mark.parametrize(("answer", "kind"), [("550 who", MailRefused), ("450 full", MailDelayed)])
def test_the_answer_to_every_recipient_decides(answer: str, kind: type[Exception]) -> None:
    with smtp_server() as (port, mailbox):
        mailbox.answer_to_recipient = answer
        with pytest.raises(kind, match=r"RCPT TO dba@example\.com"):
            deliver(message(), ["dba@example.com"], server(port))


def test_whom_the_server_did_not_take_it_for_is_told() -> None:
    with smtp_server() as (port, mailbox):
        mailbox.unknown = {"gone@example.com"}
        assert deliver(message(), ["gone@example.com", "dba@example.com"], server(port)) == ["gone@example.com"]
    assert mailbox.recipients == [["dba@example.com"]]


def test_a_server_that_goes_away_after_the_text_leaves_it_uncertain() -> None:
    with smtp_server() as (port, mailbox):
        mailbox.hangs_up = True
        with pytest.raises(MailUncertain, match="may arrive"):
            deliver(message(), ["dba@example.com"], server(port))


def impatient(port: int, security: str = "none", seconds: float = 1) -> MailServer:
    return MailServer("127.0.0.1", port, security, networks=LOOPBACK, timeout_seconds=seconds)


@pytest.mark.parametrize("security", ["none", "starttls", "tls"])
def test_a_server_that_accepts_and_says_nothing_is_given_up(security: str) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,  # the system accepts the connection, but nothing answers
        pytest.raises(MailServerFailed, match="not done within 1 s"),
    ):
        deliver(message(), ["dba@example.com"], impatient(silent.getsockname()[1], security))


def test_a_server_that_greets_byte_by_byte_is_given_up() -> None:
    with smtp_server() as (port, mailbox), dribbling(port) as proxy:
        proxy.begin()
        with pytest.raises(MailServerFailed, match="not done within 1 s"):
            deliver(message(), ["dba@example.com"], impatient(proxy.port))
        assert not mailbox.messages


def test_a_server_that_takes_the_text_and_does_not_get_round_to_saying_so_leaves_it_uncertain() -> None:
    with smtp_server() as (port, mailbox), dribbling(port, b"\r\n.\r\n", pause_seconds=60) as proxy:
        with pytest.raises(MailUncertain, match="may arrive"):
            deliver(message(), ["dba@example.com"], impatient(proxy.port, seconds=8))
        assert len(mailbox.messages) == 1


def test_what_is_no_answer_to_the_text_leaves_it_uncertain() -> None:
    with smtp_server() as (port, mailbox):
        mailbox.answer_to_data = "well, well"
        with pytest.raises(MailUncertain, match="not a valid reply"):
            deliver(message(), ["dba@example.com"], server(port))


def test_what_is_no_answer_to_a_recipient_sends_nothing() -> None:
    with smtp_server() as (port, mailbox):
        mailbox.answer_to_recipient = "well, well"
        with pytest.raises(MailServerFailed, match="Does it speak SMTP"):
            deliver(message(), ["dba@example.com"], server(port))
        assert not mailbox.messages


def test_a_server_that_does_not_take_leave_has_taken_the_message_all_the_same() -> None:
    with smtp_server() as (port, mailbox), dribbling(port, b"QUIT", pause_seconds=60) as proxy:
        deliver(message(), ["dba@example.com"], impatient(proxy.port, seconds=8))
        assert len(mailbox.messages) == 1


def test_no_server_is_a_delay() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        with pytest.raises(MailServerFailed, match="Check the address"):
            deliver(message(), ["dba@example.com"], server(taken.getsockname()[1]))


def test_an_address_that_smtp_cannot_carry_is_refused() -> None:
    with smtp_server() as (port, mailbox):
        with pytest.raises(MailRefused, match="characters that SMTP cannot carry"):
            deliver(message(), ["dba@größe.example"], server(port))
        assert not mailbox.messages


def test_an_address_that_smtp_cannot_carry_costs_the_others_nothing() -> None:
    to = ["dba@größe.example", "dba@example.com", "größe@example.com"]
    with smtp_server() as (port, mailbox):
        assert deliver(message(), to, server(port)) == [to[0], to[2]]
    assert mailbox.recipients == [["dba@example.com"]]


class Said(list[bytes]):
    """The lines that a hostile mail server received. `secrets` are those that contain the account or its password."""

    @property
    def secrets(self) -> list[bytes]:
        return [line for line in self if line.upper().startswith(b"AUTH") or b"right" in line]


def hostile_smtp(said: Said, capabilities: bytes, after_starttls: bytes = b"") -> Callable[[Talk], None]:
    def play(talk: Talk) -> None:
        talk.sock.sendall(b"220 hostile\r\n")
        with talk.sock.makefile("rb") as lines:
            for line in lines:
                said.append(line)
                if line.upper().startswith(b"STARTTLS"):
                    talk.sock.sendall(after_starttls or b"502 no\r\n")
                else:
                    talk.sock.sendall(b"250-hostile\r\n250-" + capabilities + b"\r\n250 8BITMIME\r\n")

    return play


@pytest.mark.parametrize(
    ("capabilities", "answer"),
    [
        pytest.param(b"AUTH PLAIN LOGIN", b"", id="it does not offer TLS"),
        pytest.param(b"STARTTLS\r\n250-AUTH PLAIN LOGIN", b"454 not now\r\n", id="it offers and refuses it"),
        pytest.param(b"STARTTLS\r\n250-AUTH PLAIN LOGIN", b"220 go\r\n235 you are in\r\n", id="it answers ahead"),
    ],
)
def test_a_server_that_takes_tls_away_is_told_no_password(capabilities: bytes, answer: bytes) -> None:
    said = Said()
    with hostile(hostile_smtp(said, capabilities, answer)) as listener, pytest.raises(GatewayError):
        deliver(
            message(), ["dba@example.com"], server(listener.port, security="starttls", username="fqc", password="right")
        )
    assert said and not said.secrets


def checking_accounts_with(answer: bytes, ways: bytes) -> Callable[[Talk], None]:
    """Returns a `play` for `hostile`: a mail server that offers the log-in methods `ways` and answers every other line
    with `answer` and that line.
    """

    def play(talk: Talk) -> None:
        talk.sock.sendall(b"220 hostile\r\n")
        with talk.sock.makefile("rb") as lines:
            for line in lines:
                is_greeting = line.upper().startswith(b"EHLO")
                talk.sock.sendall(b"250-hostile\r\n250 AUTH " + ways + b"\r\n" if is_greeting else answer + line)

    return play


@pytest.mark.parametrize("ways", [b"PLAIN", b"LOGIN", b"CRAM-MD5", b"PLAIN LOGIN CRAM-MD5", b"NTLM"])
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        pytest.param(b"535 unrecognized command: ", MailRefused, id="it denies the account"),
        pytest.param(b"454 busy after ", MailServerFailed, id="it cannot check accounts now"),
        pytest.param(b"334 A\r\n334 ", MailServerFailed, id="its challenge is no base64"),
        pytest.param(b"334 dXNlcg==\r\n334 ", MailServerFailed, id="its challenges do not end"),
        pytest.param(b"what is ", MailServerFailed, id="it does not speak SMTP any more"),
    ],
)
def test_what_a_server_says_to_an_account_is_not_told_since_the_password_may_be_in_it(
    answer: bytes, kind: type[GatewayError], ways: bytes
) -> None:
    kind = MailServerFailed if ways == b"NTLM" else kind
    with hostile(checking_accounts_with(answer, ways)) as listener, pytest.raises(kind) as caught:
        deliver(message(), ["dba@example.com"], server(listener.port, username="fqc", password="right"))
    told = "".join(traceback.format_exception(caught.value)) + caught.value.detail
    for secret in (b"right", b64encode(b"right"), b64encode(b"\0fqc\0right")):
        assert secret.decode() not in told.replace('password="right"', "")


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_server_with_a_certificate_that_nobody_vouches_for_is_told_no_password(security: str, tmp_path: Path) -> None:
    certified(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate", tmp_path / "key")
    heard: list[bytes] = []

    def play(talk: Talk) -> None:
        if security == "starttls":
            talk.sock.sendall(b"220 hostile\r\n")
            talk.sock.recv(1000)
            talk.sock.sendall(b"250-hostile\r\n250 STARTTLS\r\n")
            talk.sock.recv(1000)
            talk.sock.sendall(b"220 go\r\n")
        with context.wrap_socket(talk.sock, server_side=True) as encrypted:
            encrypted.sendall(b"220 hostile\r\n")
            heard.append(encrypted.recv(1000))

    with hostile(play) as listener, pytest.raises(MailServerFailed, match="certificate"):
        account = {"username": "fqc", "password": "right"}
        deliver(message(), ["dba@example.com"], server(listener.port, security=security, **account))
    assert not any(heard)


@pytest.fixture
def no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("it was connected to"))


def at(host: str, *networks: str, **facts: str) -> MailServer:
    return MailServer(host, 25, networks=networks, timeout_seconds=60, **facts)  # type: ignore[arg-type]


@pytest.mark.usefixtures("no_connection")
def test_without_tls_the_password_stays_on_this_machine() -> None:
    remote = at("192.0.2.25", "192.0.2.0/24", username="fqc", password="right")
    with pytest.raises(MailPasswordWithheld, match="Choose STARTTLS or TLS"):
        deliver(message(), ["dba@example.com"], remote)


@pytest.mark.usefixtures("no_connection")
def test_a_server_outside_the_allowed_networks_is_not_connected_to() -> None:
    for networks in ((), ("127.0.0.0/8",)):
        with pytest.raises(MailServerForbidden, match="outside the allowed networks"):
            deliver(message(), ["dba@example.com"], at("192.0.2.25", *networks))


def test_a_mail_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first lookup of the name gives an allowed address, every later one does not.

    A mail looks the name up only once; the next one is refused.
    """
    true, asked = socket.getaddrinfo, []

    def rebinding(host: str, *more: Any, **facts: Any) -> Any:
        if host != "mail.example":
            return true(host, *more, **facts)
        asked.append(host)
        return true("127.0.0.1" if len(asked) == 1 else "192.0.2.1", *more, **facts)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    with smtp_server() as (port, mailbox):
        named = MailServer("mail.example", port, networks=LOOPBACK, timeout_seconds=60)
        deliver(message(), ["dba@example.com"], named)
        assert (len(asked), len(mailbox.messages)) == (1, 1)
        with pytest.raises(MailServerForbidden, match=r"192\.0\.2\.1"):
            deliver(message(), ["dba@example.com"], named)
        assert len(mailbox.messages) == 1


def test_a_server_that_answers_line_after_line_is_given_up() -> None:
    def play(talk: Talk) -> None:
        while True:
            talk.sock.sendall(b"220-and another thing\r\n" * 1000)

    with hostile(play) as listener, pytest.raises(MailServerFailed, match="more than 65,536 bytes"):
        deliver(message(), ["dba@example.com"], server(listener.port))
