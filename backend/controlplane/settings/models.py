"""The run-time settings, in one row."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from controlplane.accounts.roles import Role


def default_networks() -> list[str]:
    return list(settings.ENDPOINT_NETWORKS)


def default_channel_networks() -> list[str]:
    return list(settings.CHANNEL_NETWORKS)


def default_four_eyes() -> bool:
    return bool(settings.FOUR_EYES_DEFAULT)


def bounded(low: int, high: int, default: int) -> Any:
    return models.PositiveIntegerField(default=default, validators=[MinValueValidator(low), MaxValueValidator(high)])


class Settings(models.Model):
    is_four_eyes = models.BooleanField(
        default=default_four_eyes, help_text="A second person approves restarts, and deletions of data."
    )
    trial_role = models.CharField(
        max_length=8, default=Role.OPERATOR, choices=[(Role.OPERATOR, "operator"), (Role.ADMIN, "admin")],
        help_text="The least role that may try statements.",
    )  # fmt: skip
    endpoint_networks = models.JSONField(default=default_networks, help_text="Networks that endpoints may be in.")
    channel_networks = models.JSONField(
        default=default_channel_networks,
        blank=True,
        help_text="Networks that receivers of alerts may be in, beside public addresses over HTTPS.",
    )
    poll_interval_seconds = bounded(5, 3600, 15)
    raw_retention_hours = bounded(1, 24 * 90, 48)
    minute_retention_days = bounded(1, 400, 30)
    hour_retention_days = bounded(1, 3660, 400)
    smtp_host = models.CharField(max_length=253, blank=True, help_text="Empty: no mail is sent.")
    smtp_port = bounded(1, 65535, 25)
    smtp_security = models.CharField(
        max_length=8, default="none", choices=[("none", "none"), ("starttls", "starttls"), ("tls", "tls")]
    )
    smtp_username = models.CharField(max_length=254, blank=True)
    smtp_password_sealed = models.TextField(blank=True)
    mail_from = models.EmailField(default="fqc@localhost.localdomain")
    mail_to = models.JSONField(default=list, blank=True, help_text="Who is told about incidents.")
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)
