"""The outbox with a real SMTP server: each mail is sent once, whichever process sends and whatever fails."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone
from structlog.testing import capture_logs

from controlplane.alerts import mailing
from controlplane.alerts.expiring import mails_expire
from controlplane.alerts.letters import MailContent
from controlplane.alerts.mailing import mail_of, mails_queue, mails_send
from controlplane.alerts.models import Incident, IncidentEvent, Mail
from controlplane.alerts.outbox import MOST_ALONE, STUCK_AFTER
from controlplane.core.models import Clock
from controlplane.core.sealing import seal
from controlplane.gateway.mail import MailServer
from controlplane.gateway.tests.smtp import smtp_server
from controlplane.settings.models import Settings
from controlplane.settings.selectors import SMTP_CONTEXT, settings_get

CONTENT = MailContent("[Alert] low hit ratio: shop-1", "text", "<p>html</p>")


def mail_through(port: int) -> None:
    row = settings_get()
    row.smtp_host, row.smtp_port, row.mail_from = "127.0.0.1", port, "fqc@example.com"
    row.save()


def queued(transition: str = "opened") -> Mail:
    return many(1, transition)[0]


def many(count: int, transition: str = "opened") -> list[Mail]:
    facts = {"rule_name": "low hit ratio", "instance_name": "shop-1", "metric": "hit_ratio", "comparison": "lt"}
    facts |= {"threshold": 50, "severity": "warning", "opened_at": timezone.now()}
    incidents = Incident.objects.bulk_create(Incident(**facts) for _ in range(count))
    told = {"transition": transition, "content": CONTENT, "recipients": ["dba@example.com"]}
    return mails_queue([mail_of(incident=incident, **told) for incident in incidents])


def states() -> list[str]:
    return sorted(set(Mail.objects.values_list("state", flat=True)))


def state_of(mail: Mail) -> str:
    mail.refresh_from_db()
    return mail.state


@pytest.mark.django_db
def test_a_password_that_cannot_be_opened_leaves_the_mail_in_the_outbox_and_says_so_once() -> None:
    mail = queued()
    with smtp_server() as (port, mailbox):
        mail_through(port)
        Settings.objects.update(smtp_password_sealed=seal("x", ["a key that is gone"], SMTP_CONTEXT))
        with capture_logs() as logged:
            assert (mails_send(), mails_send(), state_of(mail)) == (0, 0, "queued")
    [said] = logged
    assert said["event"] == "mail_password_not_opened" and "FQC_SEALING_KEYS" in said["detail"]
    assert mailbox.messages == []


@pytest.mark.django_db
def test_a_queued_mail_is_sent_once() -> None:
    mail = queued()
    with smtp_server() as (port, mailbox):
        mail_through(port)
        assert (mails_send(), mails_send()) == (1, 0)
    [message] = mailbox.messages
    assert (message["Subject"], message["From"], message["To"]) == (
        CONTENT.subject,
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
        Clock.objects.update(due_at=0)
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


@pytest.mark.django_db
def test_a_few_mails_are_sent_each_and_more_as_one() -> None:
    with smtp_server() as (port, mailbox):
        mail_through(port)
        many(MOST_ALONE)
        assert (mails_send(), len(mailbox.messages)) == (MOST_ALONE, MOST_ALONE)
        many(MOST_ALONE + 1)
        assert (mails_send(), len(mailbox.messages)) == (MOST_ALONE + 1, MOST_ALONE + 1)
    assert mailbox.messages[-1]["Subject"] == f"[Alert] {MOST_ALONE + 1} incidents: low hit ratio ({MOST_ALONE + 1})"
    assert states() == ["sent"]
    assert set(IncidentEvent.objects.values_list("kind", flat=True)) == {"mailed"}
    assert IncidentEvent.objects.count() == 2 * MOST_ALONE + 1


@pytest.mark.django_db
def test_only_what_is_alike_for_the_same_people_becomes_one() -> None:
    opened, resolved = many(MOST_ALONE), many(MOST_ALONE + 1, "resolved")
    Mail.objects.filter(pk=resolved[0].pk).update(recipients=["boss@example.com"])
    with smtp_server() as (port, mailbox):
        mail_through(port)
        assert mails_send() == len(opened) + len(resolved)
        assert len(mailbox.messages) == len(opened) + len(resolved)


@pytest.mark.django_db
def test_a_thousand_incidents_are_told_in_one_mail() -> None:
    many(1000)
    with smtp_server() as (port, mailbox):
        mail_through(port)
        assert (mails_send(), mails_send()) == (1000, 0)
    [message] = mailbox.messages
    assert message["Subject"].startswith("[Alert] 1,000 incidents")


@pytest.mark.django_db
def test_what_was_not_taken_for_many_is_tried_again_for_all_of_them() -> None:
    mails = many(MOST_ALONE + 1)
    with smtp_server() as (port, mailbox):
        mail_through(port)
        mailbox.answer_to_data = "451 later"
        assert (mails_send(), states()) == (0, ["queued"])
        mailbox.answer_to_data = "250 taken"
        Mail.objects.update(due_at=timezone.now())
        assert (mails_send(), states()) == (len(mails), ["sent"])
        assert len(mailbox.messages) == 1


@pytest.mark.django_db
def test_a_server_that_hangs_costs_one_wait_and_not_one_for_each_mail(monkeypatch: pytest.MonkeyPatch) -> None:
    many(5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = MailServer("127.0.0.1", silent.getsockname()[1], networks=("127.0.0.0/8",), timeout_seconds=1)
        mail_through(silent.getsockname()[1])
        monkeypatch.setattr(mailing, "mail_server", lambda row: hanging)
        assert (mails_send(), mails_send()) == (0, 0)  # the second call does not even try
    monkeypatch.undo()
    assert sorted(Mail.objects.values_list("attempts", flat=True)) == [0, 0, 0, 0, 1]
    with smtp_server() as (port, _):
        mail_through(port)
        Clock.objects.update(due_at=0)
        assert mails_send() == 4  # the first mail is not due again yet
