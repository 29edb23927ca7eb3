"""The outbox: a mail is written with the transition it tells of, and sent by whoever claims it.

A claim is a conditional update: two senders, one mail. A sender that dies with a claim in hand leaves a mail that is
never sent again, because it may have arrived; the incident's timeline says so.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings as process_settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from controlplane.alerts.letters import Letter, message_of, test_letter
from controlplane.alerts.models import Incident, IncidentEvent, Mail
from controlplane.alerts.vocabulary import EventKind, MailState
from controlplane.core.errors import Conflict
from controlplane.core.ids import new_id
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.mail import MailServer, deliver
from controlplane.settings.models import Settings
from controlplane.settings.selectors import settings_get, smtp_password

MOST_ATTEMPTS = 10
FIRST_DELAY, LONGEST_DELAY = timedelta(seconds=30), timedelta(hours=1)
STUCK_AFTER = timedelta(minutes=10)
KEPT_FOR = timedelta(days=30)
MESSAGE_DOMAIN = "fast-query-cache.invalid"


def mail_server(row: Settings) -> MailServer | None:
    if not row.smtp_host:
        return None
    return MailServer(row.smtp_host, row.smtp_port, row.smtp_security, row.smtp_username, smtp_password(row))


def test_mail_send(*, to: str) -> str:
    """At once and without the outbox: whoever asks wants to see the server's answer."""
    row = settings_get()
    server = mail_server(row)
    if server is None:
        raise Conflict("No SMTP server is set: an admin sets smtp_host in the settings.", code="no_mail_server")
    now = timezone.now()
    letter = test_letter(server.place, process_settings.PUBLIC_URL, now)
    message = message_of(
        letter, sender=row.mail_from, recipients=[to], message_id=_message_id(new_id("test")), thread_id=None, at=now
    )
    deliver(message, [to], server)
    return server.place


def mail_queue(*, incident: Incident, transition: str, letter: Letter, recipients: list[str]) -> Mail:
    """Inside the transition's transaction. `transition` is unique: telling twice fails the second transition."""
    return Mail.objects.create(
        incident=incident, transition=f"{incident.pk}.{transition}", recipients=recipients, due_at=timezone.now(),
        subject=letter.subject, text=letter.text, html=letter.html,
    )  # fmt: skip


def mails_send() -> int:
    """Sends what is due; returns how many were taken by the server."""
    _abandon_stuck()
    row = settings_get()
    server = mail_server(row)
    if server is None:
        return 0
    now = timezone.now()
    # Further ahead than any delay: the clock was set back since.
    is_due = Q(due_at__lte=now) | Q(due_at__gt=now + 2 * LONGEST_DELAY)
    due = Mail.objects.filter(is_due, state=MailState.QUEUED).order_by("due_at", "pk")
    return sum(_send(pk, server, row.mail_from) for pk in list(due.values_list("pk", flat=True)))


def mails_expire() -> None:
    """What was told stays on the incident's timeline; the letters themselves go."""
    ended = Mail.objects.filter(state__in=(MailState.SENT, MailState.FAILED))
    ended.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()


def _send(pk: str, server: MailServer, sender: str) -> bool:
    mail = _claimed(pk)
    if mail is None:
        return False
    letter = Letter(mail.subject, mail.text, mail.html)
    thread_id = _message_id(f"{mail.incident_id}.opened") if mail.incident_id else None
    message = message_of(
        letter, sender=sender, recipients=mail.recipients, message_id=_message_id(mail.transition),
        thread_id=thread_id, at=mail.created_at,
    )  # fmt: skip
    try:
        refused = deliver(message, mail.recipients, server)
    except GatewayError as error:
        _failed(mail, error)
        return False
    _sent(mail, refused)
    return True


def _claimed(pk: str) -> Mail | None:
    claimed = Mail.objects.filter(pk=pk, state=MailState.QUEUED).update(
        state=MailState.SENDING, claimed_at=timezone.now(), attempts=F("attempts") + 1
    )
    return Mail.objects.get(pk=pk) if claimed else None


@transaction.atomic
def _sent(mail: Mail, refused: list[str]) -> None:
    error = f"the server did not take it for {', '.join(refused)}" if refused else ""
    Mail.objects.filter(pk=mail.pk).update(state=MailState.SENT, sent_at=timezone.now(), error=error[:500])
    _note(mail, EventKind.MAILED, ", ".join(to for to in mail.recipients if to not in refused))
    if refused:
        _note(mail, EventKind.MAIL_FAILED, error)


@transaction.atomic
def _failed(mail: Mail, error: GatewayError) -> None:
    detail = error.detail[:500]
    if error.is_permanent or mail.attempts >= MOST_ATTEMPTS:
        Mail.objects.filter(pk=mail.pk).update(state=MailState.FAILED, error=detail)
        _note(mail, EventKind.MAIL_FAILED, detail)
        return
    delay = min(FIRST_DELAY * 2 ** (mail.attempts - 1), LONGEST_DELAY)
    Mail.objects.filter(pk=mail.pk).update(state=MailState.QUEUED, due_at=timezone.now() + delay, error=detail)


@transaction.atomic
def _abandon_stuck() -> None:
    now = timezone.now()
    # Later than now: the clock was set back.
    is_old = Q(claimed_at__lt=now - STUCK_AFTER) | Q(claimed_at__gt=now + STUCK_AFTER)
    stuck = Mail.objects.filter(is_old, state=MailState.SENDING)
    for mail in list(stuck):
        detail = "the process that was sending it died: it may have arrived, and is not sent again"
        if Mail.objects.filter(pk=mail.pk, state=MailState.SENDING).update(state=MailState.FAILED, error=detail):
            _note(mail, EventKind.MAIL_FAILED, detail)


def _note(mail: Mail, kind: EventKind, detail: str) -> None:
    if mail.incident_id:
        IncidentEvent.objects.create(
            incident_id=mail.incident_id, at=timezone.now(), kind=kind, detail=f"{mail.subject}: {detail}"[:500]
        )


def _message_id(name: str) -> str:
    return f"<{name}@{MESSAGE_DOMAIN}>"
