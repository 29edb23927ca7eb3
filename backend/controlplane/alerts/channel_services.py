"""Changes to channels by administrators, each with its audit event.

A stored secret is only sent to the receiver that it was given for: a new address requires the secret again.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from controlplane.alerts.mailing import test_mail_send
from controlplane.alerts.models import Channel
from controlplane.alerts.notifying import channel_test, receiver_of
from controlplane.alerts.vocabulary import ChannelKind
from controlplane.audit.services import audit_record
from controlplane.core.errors import FieldError, Invalid, PasswordRequired
from controlplane.core.etag import ANY_VERSION, IfMatch, row_held
from controlplane.core.unique_names import name_claimed
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.post import ReceiverForbidden, ReceiverInClear, receiver_addresses
from controlplane.settings.selectors import settings_get

FACTS = ("name", "kind", "recipients", "tags", "least_severity", "is_enabled")


def channel_create(*, secret: str | None = None, **fields: Any) -> Channel:
    channel = Channel(**fields)
    channel.secret = secret or ""
    _check_receiver(channel, secret or "")
    return _channel_create(channel)


@transaction.atomic
def _channel_create(channel: Channel) -> Channel:
    with name_claimed(Channel.objects.all(), "a channel", channel.name):
        channel.save(force_insert=True)
    audit_record("channel.created", channel, after=_facts(channel))
    return channel


def channel_update(
    *, channel: Channel, expected: IfMatch = ANY_VERSION, secret: str | None = None, **fields: Any
) -> Channel:
    """Replaces the channel's fields; `secret` None keeps the stored one.

    Raises Invalid if the kind changes, PasswordRequired if a new address comes without the secret, PreconditionFailed
    if the channel is not at an `expected` version, or the error for a receiver that is not allowed.
    """
    if fields["kind"] != channel.kind:
        raise Invalid.field("kind", "make another channel instead: the kind of one that exists stays")
    if channel.secret_sealed and secret is None and fields["url"] != channel.url:
        raise PasswordRequired("secret", ["url"])
    if fields["url"] != channel.url or secret is not None:
        planned = Channel(kind=channel.kind, url=fields["url"])
        _check_receiver(planned, secret or "")
    return _channel_update(channel, expected, secret, fields)


@transaction.atomic
def _channel_update(channel: Channel, expected: IfMatch, secret: str | None, fields: dict[str, Any]) -> Channel:
    channel = row_held(channel, expected)
    # the secret was stored in the meantime
    if channel.secret_sealed and secret is None and fields["url"] != channel.url:
        raise PasswordRequired("secret", ["url"])
    before = _facts(channel)
    moved = fields["url"] != channel.url or secret is not None
    for name, value in fields.items():
        setattr(channel, name, value)
    if secret is not None:
        channel.secret = secret
    if moved:
        channel.resting_until, channel.last_error = None, ""
    channel.version += 1
    with name_claimed(Channel.objects.exclude(pk=channel.pk), "a channel", channel.name):
        channel.save()
    audit_record("channel.updated", channel, before=before, after=_facts(channel) | {"receiver_changed": moved})
    return channel


@transaction.atomic
def channel_delete(*, channel: Channel, expected: IfMatch = ANY_VERSION) -> None:
    """Deletes the channel and its unsent notifications."""
    channel = row_held(channel, expected)
    audit_record("channel.deleted", channel, before=_facts(channel))
    channel.delete()


def channel_try(channel: Channel) -> None:
    """Sends a test message to the channel at once. Raises the receiver's or mail server's GatewayError, if any."""
    if channel.kind == ChannelKind.MAIL:
        test_mail_send(to=channel.recipients)
    else:
        channel_test(channel)


def _check_receiver(channel: Channel, secret: str) -> None:
    """Raises an error for the field if messages may not be sent to this receiver; every message checks again.

    Must be called outside transactions, since resolving the name may be slow.
    """
    if channel.kind == ChannelKind.MAIL:
        return
    field = "secret" if channel.kind == ChannelKind.SLACK else "url"
    receiver = receiver_of(channel, secret, settings_get().channel_networks)
    try:
        receiver_addresses(receiver)
    except (ReceiverForbidden, ReceiverInClear) as error:
        error.errors = [FieldError(field, error.code, error.detail)]
        raise
    except GatewayError as error:
        raise Invalid.field(field, error.detail) from error


def _facts(channel: Channel) -> dict[str, Any]:
    """Returns the channel's facts for the audit event: of its address only the part before the path, which may be
    secret.
    """
    place = receiver_of(channel, "", ()).place if channel.url else ""
    return {**{name: getattr(channel, name) for name in FACTS}, "place": place}
