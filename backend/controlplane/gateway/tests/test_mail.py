"""Handing mail to a real SMTP server, and the three ways that can fail."""

from __future__ import annotations

import socket
from email.message import EmailMessage

import pytest

from controlplane.gateway.mail import MailDelayed, MailRefused, MailServer, MailUncertain, deliver
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


def test_no_server_is_a_delay() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        with pytest.raises(MailDelayed, match="Is the address right"):
            deliver(message(), ["dba@example.com"], server(taken.getsockname()[1]))


def test_an_address_that_smtp_cannot_carry_is_refused() -> None:
    with smtp_server() as (port, mailbox):
        with pytest.raises(MailRefused, match="letters that SMTP cannot carry"):
            deliver(message(), ["dba@größe.example"], server(port))
        assert not mailbox.messages
