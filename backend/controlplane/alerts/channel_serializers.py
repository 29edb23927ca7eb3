from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from django.core.validators import RegexValidator
from rest_framework import serializers

from controlplane.alerts.models import Channel
from controlplane.alerts.serializers import MatchedTagsField, RecipientsField
from controlplane.alerts.vocabulary import ChannelKind, Severity
from controlplane.gateway.endpoint import HOST_SYNTAX
from controlplane.gateway.post import PORTS

PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue"
LONGEST_URL, LEAST_KEY = 500, 16
ABOUT_KEYS = (
    "webhook: what messages are signed with; slack: the address of the incoming webhook; pagerduty: the integration "
    "key. Never shown again. Left out: the stored one stays, unless `url` changes (`password_required`)."
)
VISIBLE = RegexValidator(r"\A[\x21-\x7e]*\Z", "Use printable characters without spaces.")


def address(text: str) -> str:
    """Returns the text unchanged.

    Raises a ValidationError unless it is an http or https address without user, password or fragment.
    """
    try:
        parts = urlsplit(text)
        is_address = parts.scheme in PORTS and re.match(HOST_SYNTAX, parts.hostname or "") and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise serializers.ValidationError("write an address such as https://example.com/alerts")
    if "@" in parts.netloc or parts.fragment:
        raise serializers.ValidationError("without a user, a password or a fragment")
    return text


class ChannelSerializer(serializers.ModelSerializer[Channel]):
    tags = serializers.DictField(child=serializers.CharField())
    recipients = serializers.ListField(child=serializers.EmailField())
    has_secret = serializers.SerializerMethodField()

    class Meta:
        model = Channel
        fields = (
            "id", "name", "kind", "url", "has_secret", "recipients", "tags", "least_severity", "is_enabled",
            "last_sent_at", "last_error", "version", "created_at", "updated_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_has_secret(self, channel: Channel) -> bool:
        return bool(channel.secret_sealed)


class ChannelWriteSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100)
    kind = serializers.ChoiceField(
        choices=ChannelKind.choices, help_text="The kind of the receiver. It cannot be changed later."
    )
    url = serializers.CharField(
        max_length=LONGEST_URL, allow_blank=True, default="", validators=[VISIBLE],
        help_text="The address that messages are posted to: required for `webhook`, and for `pagerduty` only if it"
" differs from PagerDuty's usual one.",
    )  # fmt: skip
    secret = serializers.CharField(
        max_length=LONGEST_URL, required=False, allow_blank=True, write_only=True, validators=[VISIBLE],
        help_text=ABOUT_KEYS,
    )  # fmt: skip
    recipients = RecipientsField(default=list, help_text="The addresses that a channel of the kind `mail` sends to.")
    tags = MatchedTagsField(
        default=dict, help_text="If given, only incidents of instances with all of these tags are sent."
    )
    least_severity = serializers.ChoiceField(
        choices=Severity.choices,
        default=Severity.WARNING,
        help_text="The least severity of incidents that are sent: with `critical`, only critical ones.",
    )
    is_enabled = serializers.BooleanField(default=True)

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        getattr(self, f"_check_{given['kind']}")(given)
        return given

    @property
    def _is_new(self) -> bool:
        return self.instance is None

    def _check_mail(self, given: dict[str, Any]) -> None:
        if not given["recipients"]:
            raise serializers.ValidationError({"recipients": "name at least one address"})
        self._without(given, "url", "secret")

    def _check_webhook(self, given: dict[str, Any]) -> None:
        self._address(given, "url")
        self._secret(given, "give the key that messages are signed with, of 16 characters or more", LEAST_KEY)
        self._without(given, "recipients")

    def _check_slack(self, given: dict[str, Any]) -> None:
        if self._is_new or "secret" in given:
            self._address(given, "secret")
        self._without(given, "url", "recipients")

    def _check_pagerduty(self, given: dict[str, Any]) -> None:
        given["url"] = given["url"] or PAGERDUTY_URL
        self._address(given, "url")
        self._secret(given, "give the integration key", 1)
        self._without(given, "recipients")

    def _secret(self, given: dict[str, Any], wanted: str, least: int) -> None:
        if (self._is_new or "secret" in given) and len(given.get("secret", "")) < least:
            raise serializers.ValidationError({"secret": wanted})

    def _address(self, given: dict[str, Any], field: str) -> None:
        try:
            address(given.get(field, ""))
        except serializers.ValidationError as error:
            raise serializers.ValidationError({field: error.detail}) from error

    def _without(self, given: dict[str, Any], *fields: str) -> None:
        for field in fields:
            if given.get(field):
                raise serializers.ValidationError({field: f"not for the kind {given['kind']}"})
