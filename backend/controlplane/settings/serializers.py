from __future__ import annotations

import ipaddress
from typing import Any

from django.core.validators import RegexValidator
from rest_framework import serializers

from controlplane.gateway.endpoint import HOST_SYNTAX
from controlplane.settings.models import Settings


class NetworkField(serializers.CharField):
    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        try:
            return str(ipaddress.ip_network(text))
        except ValueError as error:
            raise serializers.ValidationError(f"{error}: write a network such as 10.0.0.0/8") from error


class SettingsSerializer(serializers.ModelSerializer[Settings]):
    endpoint_networks = serializers.ListField(child=NetworkField(max_length=64), max_length=100)
    channel_networks = serializers.ListField(child=NetworkField(max_length=64), max_length=100, required=False)
    mail_to = serializers.ListField(child=serializers.EmailField(), max_length=50)
    smtp_host = serializers.CharField(
        max_length=253, required=False, allow_blank=True,
        help_text="The host of the mail server. If empty, no mail is sent.",
        validators=[RegexValidator(HOST_SYNTAX, "a host name or an address")],
    )  # fmt: skip
    smtp_password = serializers.CharField(
        max_length=256, write_only=True, required=False, allow_blank=True, trim_whitespace=False,
        help_text="The password for the mail server. It must be given again with a new smtp_host, smtp_port or "
"smtp_security; otherwise the change is refused as `password_required`.",
    )  # fmt: skip
    has_smtp_password = serializers.SerializerMethodField()

    class Meta:
        model = Settings
        fields = (
            "is_four_eyes", "trial_role", "endpoint_networks", "channel_networks", "poll_interval_seconds",
            "raw_retention_hours", "minute_retention_days", "hour_retention_days", "smtp_host", "smtp_port",
            "smtp_security", "smtp_username", "smtp_password", "has_smtp_password", "mail_from", "mail_to", "version",
            "updated_at",
        )  # fmt: skip
        read_only_fields = ("version", "updated_at")

    def get_has_smtp_password(self, row: Settings) -> bool:
        return bool(row.smtp_password_sealed)
