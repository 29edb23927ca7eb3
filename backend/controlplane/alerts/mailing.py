"""The outbox of mails: a mail is written with the transition that it reports, and sent by the process that claims it.

A claim is a conditional update, so of two senders only one sends a mail. A mail whose sender died after claiming it is
never sent again, because it may have arrived; the incident's timeline says so. One process sends at a time, and pauses
after the mail server was down, so an outage costs one worker one wait. Many mails that would say the same to the same
recipients at once are sent as one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from email.message import EmailMessage

import structlog
from django.conf import settings as process_settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from controlplane.alerts.letters import BundleRow, MailContent, bundle_content, content_of_test, message_of
from controlplane.alerts.models import Incident, IncidentEvent, Mail
from controlplane.alerts.outbox import MOST_ALONE, MOST_ATTEMPTS, is_due, is_stuck, next_try
from controlplane.alerts.states import MEASURES
from controlplane.alerts.vocabulary import EventKind, MailState
from controlplane.core import clock
from controlplane.core.connections import connection_give_back
from controlplane.core.errors import Conflict
from controlplane.core.ids import new_id
from controlplane.core.sealing import CannotOpen
from controlplane.core.turns import turn_claim, turn_end
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.mail import MailServer, MailServerFailed, MailUncertain, deliver
from controlplane.settings.selectors import mail_server, settings_get, smtp_password

TURN, LEASE_SECONDS, PAUSE_SECONDS = "mail", 120.0, 60.0
BUNDLE = 1000
MESSAGE_DOMAIN = "fast-query-cache.invalid"

log = structlog.get_logger(__name__)


def incidents_page() -> str:
    """Returns the address of the console's page of incidents."""
    return f"{process_settings.PUBLIC_URL}/alerts"


def test_mail_send(*, to: list[str]) -> str:
    """Sends a test mail immediately, without the outbox, so that the caller sees the mail server's answer.

    Returns the server's host and port. Raises Conflict if none is configured, else the server's GatewayError.
    """
    row = settings_get()
    if not row.smtp_host:
        raise Conflict(
            "No SMTP server is configured: an administrator sets smtp_host in the settings.", code="no_mail_server"
        )
    server = replace(mail_server(row), password=smtp_password(row))
    now = timezone.now()
    content = content_of_test(server.place, process_settings.PUBLIC_URL, now)
    message = message_of(
        content, sender=row.mail_from, recipients=to, message_id=_message_id(new_id("test")), thread_id=None, at=now
    )
    connection_give_back()
    deliver(message, to, server)
    return server.place


def mail_of(*, incident: Incident, transition: str, content: MailContent, recipients: list[str]) -> Mail:
    return Mail(
        incident=incident, transition=f"{incident.pk}.{transition}", recipients=recipients, due_at=timezone.now(),
        subject=content.subject, text=content.text, html=content.html,
    )  # fmt: skip


def mails_queue(mails: list[Mail]) -> list[Mail]:
    """Stores mails in the outbox, which a task sends.

    Must be called in the transaction of the transitions that they report. A mail's `transition` is unique: a second
    mail about it raises IntegrityError.
    """
    return Mail.objects.bulk_create(mails)


def mails_send() -> int:
    """Sends the mails of the outbox that are due.

    Returns the number that the mail server accepted; 0 also if another process is sending or no server is configured.
    """
    _abandon_stuck()
    row = settings_get()
    if not row.smtp_host or not turn_claim(TURN, clock.shared_time(), LEASE_SECONDS):
        return 0
    sent, pause = 0, 0.0
    try:
        server = replace(mail_server(row), password=smtp_password(row))
        for bundle in list(_due_bundles()):
            sent += _send(bundle, server, row.mail_from)
    except (MailServerFailed, MailUncertain):
        pause = PAUSE_SECONDS  # the remaining mails wait in the outbox
    except CannotOpen as error:
        log.error("mail_password_not_opened", detail=error.detail)
        pause = PAUSE_SECONDS
    finally:
        turn_end(TURN, clock.shared_time() + pause)
    return sent


def _due_bundles() -> Iterator[list[str]]:
    """Yields lists of keys of mails that are due; the mails of one list are sent as one."""
    due = Mail.objects.filter(is_due(timezone.now()), state=MailState.QUEUED).order_by("due_at", "pk")
    alike = defaultdict(list)
    for mail in due.only("pk", "transition", "recipients"):
        alike[mail.kind, *mail.recipients].append(mail.pk)
    for pks in alike.values():
        size = 1 if len(pks) <= MOST_ALONE else BUNDLE
        yield from (pks[first : first + size] for first in range(0, len(pks), size))


def _send(pks: list[str], server: MailServer, sender: str) -> int:
    mails = _claimed(pks)
    if not mails:
        return 0
    try:
        refused = deliver(_message(mails, sender), mails[0].recipients, server)
    except GatewayError as error:
        _failed(mails, error)
        if isinstance(error, MailServerFailed | MailUncertain):
            raise
        return 0
    _sent(mails, refused)
    return len(mails)


@transaction.atomic
def _claimed(pks: list[str]) -> list[Mail]:
    mails = Mail.objects.select_for_update(of=("self",)).select_related("incident").order_by("due_at", "pk")
    claimed = list(mails.filter(pk__in=pks, state=MailState.QUEUED))
    Mail.objects.filter(pk__in=[mail.pk for mail in claimed]).update(
        state=MailState.SENDING, claimed_at=timezone.now(), attempts=F("attempts") + 1
    )
    for mail in claimed:
        mail.attempts += 1
    return claimed


def _message(mails: list[Mail], sender: str) -> EmailMessage:
    first = mails[0]
    return message_of(
        _letter(mails), sender=sender, recipients=first.recipients, message_id=_message_id(first.transition),
        thread_id=_message_id(f"{first.incident_id}.opened") if len(mails) == 1 else None, at=first.created_at,
    )  # fmt: skip


def _letter(mails: list[Mail]) -> MailContent:
    if len(mails) == 1:
        return MailContent(mails[0].subject, mails[0].text, mails[0].html)
    lines = [_line(mail.incident) for mail in mails if mail.incident]
    return bundle_content(mails[0].kind, lines, incidents_page())


def _line(incident: Incident) -> BundleRow:
    unit = MEASURES[incident.metric].unit
    return BundleRow(incident.instance_name, incident.rule_name, incident.severity, incident.last_value, unit)


@transaction.atomic
def _sent(mails: list[Mail], refused: list[str]) -> None:
    error = f"the server rejected it for {', '.join(refused)}" if refused else ""
    taken = ", ".join(to for to in mails[0].recipients if to not in refused)
    _move(mails, state=MailState.SENT, sent_at=timezone.now(), error=error[:500])
    _note(mails, EventKind.MAILED, taken)
    if refused:
        _note(mails, EventKind.MAIL_FAILED, error)


@transaction.atomic
def _failed(mails: list[Mail], error: GatewayError) -> None:
    detail = error.detail[:500]
    over = [mail for mail in mails if error.is_permanent or mail.attempts >= MOST_ATTEMPTS]
    _move(over, state=MailState.FAILED, error=detail)
    _note(over, EventKind.MAIL_FAILED, detail)
    again = [mail for mail in mails if mail not in over]
    _move(again, state=MailState.QUEUED, due_at=next_try(again, timezone.now()), error=detail)


def _move(mails: list[Mail], **facts: object) -> None:
    Mail.objects.filter(pk__in=[mail.pk for mail in mails]).update(**facts)


@transaction.atomic
def _abandon_stuck() -> None:
    detail = "the process that was sending it died: it may have arrived, and is not sent again"
    stuck = list(Mail.objects.select_for_update().filter(is_stuck(timezone.now()), state=MailState.SENDING))
    _move(stuck, state=MailState.FAILED, error=detail)
    _note(stuck, EventKind.MAIL_FAILED, detail)


def _note(mails: list[Mail], kind: EventKind, detail: str) -> None:
    now = timezone.now()
    IncidentEvent.objects.bulk_create(
        IncidentEvent(incident_id=mail.incident_id, at=now, kind=kind, detail=f"{mail.subject}: {detail}"[:500])
        for mail in mails
        if mail.incident_id
    )


def _message_id(name: str) -> str:
    return f"<{name}@{MESSAGE_DOMAIN}>"
