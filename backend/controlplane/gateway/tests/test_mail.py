"""Handing mail to a real SMTP server, and the three ways that can fail."""

from __future__ import annotations

import socket
from email.message import EmailMessage

import pytest

from controlplane.gateway.mail import (
    MailDelayed,
    MailRefused,
    MailServer,
    MailServerFailed,
    MailUncertain,
    deliver,
)
from controlplane.gateway.tests.dribble import dribbling
from controlplane.gateway.tests.smtp import smtp_server


def message() -> EmailMessage:
    letter = EmailMessage()
    letter["From"], letter["To"], letter["Subject"] = "fqc@example.com", "dba@example.com", "Größe"
    letter.set_content("a line\n.\nanother line, with an é\n")
    return letter


def server(port: int, **facts: str) -> MailServer:
    return MailServer("127.0.0.1", port, timeout_seconds=60, **facts)  # type: ignore[arg-type]


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
        with pytest.raises(MailRefused, match="STARTTLS"):
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
    return MailServer("127.0.0.1", port, security, timeout_seconds=seconds)


@pytest.mark.parametrize("security", ["none", "starttls", "tls"])
def test_a_server_that_accepts_and_says_nothing_is_given_up(security: str) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,  # the system accepts, nobody speaks
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
        with pytest.raises(MailUncertain, match="no answer"):
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
        with pytest.raises(MailServerFailed, match="Is the address right"):
            deliver(message(), ["dba@example.com"], server(taken.getsockname()[1]))


def test_an_address_that_smtp_cannot_carry_is_refused() -> None:
    with smtp_server() as (port, mailbox):
        with pytest.raises(MailRefused, match="letters that SMTP cannot carry"):
            deliver(message(), ["dba@größe.example"], server(port))
        assert not mailbox.messages
