"""Removes old records after their retention time: sent mails and notifications, resolved incidents, ended silences."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

from controlplane.alerts.models import Incident, Mail, Notification, Silence
from controlplane.alerts.vocabulary import MailState
from controlplane.core.purging import purge
from controlplane.core.retention import retention_now


def mails_expire() -> None:
    """Deletes mails and notifications that were sent or have failed, after their retention time.

    The incident's timeline still says what was reported.
    """
    before = retention_now("mails") - timedelta(days=settings.MAIL_RETENTION_DAYS)
    for outbox in (Mail, Notification):
        ended = outbox.objects.filter(state__in=(MailState.SENT, MailState.FAILED))
        purge(ended.filter(created_at__lt=before), "created_at")


def incidents_expire() -> None:
    """Deletes resolved incidents and ended silences after their retention time, which may be unlimited.

    Open incidents stay, however old.
    """
    if not settings.INCIDENT_RETENTION_DAYS:
        return
    before = retention_now("incidents") - timedelta(days=settings.INCIDENT_RETENTION_DAYS)
    purge(Incident.objects.filter(resolved_at__lt=before), "resolved_at")
    purge(Silence.objects.filter(ends_at__lt=before), "ends_at")
