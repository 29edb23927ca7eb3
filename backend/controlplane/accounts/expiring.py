"""Deletes sessions and log-in failures that have expired, and after a retention time tokens."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from controlplane.accounts.models import LoginFailure, Session, Token
from controlplane.core.purging import purge
from controlplane.core.retention import retention_now

KEEP_FAILURES = timedelta(days=1)  # longer than any lock


def access_expire() -> None:
    now = timezone.now()
    before = retention_now("tokens") - timedelta(days=settings.TOKEN_RETENTION_DAYS)
    purge(Session.objects.filter(expire_date__lt=now), "expire_date")
    purge(LoginFailure.objects.filter(last_at__lt=now - KEEP_FAILURES), "last_at")
    purge(Token.objects.filter(expires_at__lt=before), "expires_at")
    purge(Token.objects.filter(revoked_at__lt=before), "revoked_at")
