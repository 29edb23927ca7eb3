"""The outbox against a real SMTP server: once, whoever sends, whatever fails."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from controlplane.alerts.letters import Letter
from controlplane.alerts.mailing import STUCK_AFTER, mail_queue, mails_expire, mails_send
from controlplane.alerts.models import Incident, Mail
from controlplane.gateway.tests.smtp import smtp_server
from controlplane.settings.selectors import settings_get

LETTER = Letter("[Alert] low hit ratio: shop-1", "text", "<p>html</p>")


def mail_through(port: int) -> None:
    row = settings_get()
    row.smtp_host, row.smtp_port, row.mail_from = "127.0.0.1", port, "fqc@example.com"
    row.save()


def queued(transition: str = "opened") -> Mail:
    incident = Incident.objects.create(
        rule_name="low hit ratio", instance_name="shop-1", metric="hit_ratio", comparison="lt", threshold=50,
        severity="warning", opened_at=timezone.now(),
    )  # fmt: skip
    return mail_queue(incident=incident, transition=transition, letter=LETTER, recipients=["dba@example.com"])


def state_of(mail: Mail) -> str:
    mail.refresh_from_db()
    return mail.state


@pytest.mark.django_db
def test_a_queued_mail_is_sent_once() -> None:
    mail = queued()
    with smtp_server() as (port, mailbox):
        mail_through(port)
        assert (mails_send(), mails_send()) == (1, 0)
    [message] = mailbox.messages
    assert (message["Subject"], message["From"], message["To"]) == (
        LETTER.subject,
        "fqc@example.com",
        "dba@example.com",
    )
    assert state_of(mail) == "sent"
    assert mail.incident.events.get().kind == "mailed"  # type: ignore[union-attr]


@pytest.mark.django_db(transaction=True)
def test_two_senders_send_one_mail() -> None:
    queued()
    start = Barrier(2)

    def send() -> int:
        start.wait()
        try:
            return mails_send()
        finally:
            connection.close()

    with smtp_server() as (port, mailbox), ThreadPoolExecutor(2) as senders:
        mail_through(port)
        counts = [future.result() for future in [senders.submit(send), senders.submit(send)]]
    assert sorted(counts) == [0, 1]
    assert len(mailbox.messages) == 1


@pytest.mark.django_db
def test_a_delay_is_tried_again_later_and_not_before() -> None:
    mail = queued()
    with smtp_server() as (port, mailbox):
        mail_through(port)
        mailbox.answer_to_data = "451 later"
        assert (mails_send(), state_of(mail)) == (0, "queued")
        assert "451" in mail.error
        mailbox.answer_to_data = "250 taken"
        assert mails_send() == 0
        Mail.objects.update(due_at=timezone.now())
        assert (mails_send(), state_of(mail)) == (1, "sent")


@pytest.mark.django_db
def test_a_server_that_is_down_is_tried_again() -> None:
    mail = queued()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        mail_through(taken.getsockname()[1])
        mails_send()
    assert (state_of(mail), mail.attempts) == ("queued", 1)


@pytest.mark.django_db
@pytest.mark.parametrize("hangs_up", [False, True])
def test_a_refusal_or_an_uncertain_end_is_final_and_on_the_timeline(hangs_up: bool) -> None:
    mail = queued()
    with smtp_server() as (port, mailbox):
        mail_through(port)
        mailbox.hangs_up, mailbox.answer_to_data = hangs_up, "250 taken" if hangs_up else "550 no"
        mails_send()
        Mail.objects.update(due_at=timezone.now())
        mails_send()
        assert len(mailbox.messages) == (1 if hangs_up else 0)
    assert state_of(mail) == "failed"
    assert mail.incident.events.get().kind == "mail_failed"  # type: ignore[union-attr]


@pytest.mark.django_db
@pytest.mark.parametrize("claimed", [-1, 1], ids=["a while ago", "before the clock was set back"])
def test_what_a_dead_sender_left_is_not_sent_again(claimed: int) -> None:
    mail = queued()
    Mail.objects.update(state="sending", claimed_at=timezone.now() + claimed * (STUCK_AFTER + timedelta(minutes=1)))
    with smtp_server() as (port, mailbox):
        mail_through(port)
        assert mails_send() == 0
    assert (state_of(mail), mailbox.messages) == ("failed", [])
    assert "may have arrived" in mail.error


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("state", "days", "kept"), [("sent", 31, 0), ("failed", 31, 0), ("sent", 29, 1), ("queued", 31, 1)]
)
def test_letters_go_after_a_month_but_never_unsent(state: str, days: int, kept: int) -> None:
    queued()
    Mail.objects.update(state=state, created_at=timezone.now() - timedelta(days=days))
    mails_expire()
    assert Mail.objects.count() == kept


@pytest.mark.django_db
def test_without_a_server_mail_waits() -> None:
    mail = queued()
    assert (mails_send(), state_of(mail)) == (0, "queued")
