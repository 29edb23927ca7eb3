from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

from django.conf import settings as process_settings
from django.db import transaction

from controlplane.audit.services import audit_record
from controlplane.core.errors import FieldError, Invalid, PasswordRequired
from controlplane.core.etag import ANY_VERSION, IfMatch, row_held
from controlplane.core.sealing import seal
from controlplane.gateway.mail import MailPasswordWithheld, MailServerFailed, MailServerForbidden, mail_addresses
from controlplane.settings.models import Settings
from controlplane.settings.selectors import SMTP_CONTEXT, mail_server

NOT_FACTS = {"id", "updated_at"}
# The settings that decide which mail server receives the stored password, and how. A change of one requires it again.
RECEIVER = ("smtp_host", "smtp_port", "smtp_security")


def _facts(row: Settings) -> dict[str, Any]:
    return {field.name: getattr(row, field.name) for field in row._meta.fields if field.name not in NOT_FACTS}


def settings_update(row: Settings, changes: dict[str, Any], expected: IfMatch = ANY_VERSION) -> Settings:
    _mail_server_check(row, changes)
    return _settings_update(row, changes, expected)


def _mail_server_check(row: Settings, changes: dict[str, Any]) -> None:
    """Raises an error for the field if mail may not be sent to the changed mail server; every mail checks again.

    Must be called outside transactions, since resolving the name may be slow.
    """
    planned = copy(row)
    for name, value in changes.items():
        setattr(planned, name, value)
    is_same = all(getattr(planned, name) == getattr(row, name) for name in (*RECEIVER, "smtp_username"))
    if is_same or not planned.smtp_host:
        return
    try:
        mail_addresses(replace(mail_server(planned), timeout_seconds=process_settings.CONNECT_TIMEOUT_SECONDS))
    except MailServerForbidden as error:
        error.errors = [FieldError("smtp_host", error.code, error.detail)]
        raise
    except MailPasswordWithheld as error:
        error.errors = [FieldError("smtp_security", error.code, error.detail)]
        raise
    except MailServerFailed as error:
        raise Invalid.field("smtp_host", error.detail) from error


@transaction.atomic
def _settings_update(row: Settings, changes: dict[str, Any], expected: IfMatch) -> Settings:
    row = row_held(row, expected)
    before = _facts(row)
    password = changes.pop("smtp_password", None)
    for name, value in changes.items():
        setattr(row, name, value)
    moved = [name for name in RECEIVER if getattr(row, name) != before[name]]
    if moved and row.smtp_host and row.smtp_password_sealed and password is None:
        raise PasswordRequired("smtp_password", moved)
    if password is not None:
        row.smtp_password_sealed = seal(password, process_settings.SEALING_KEYS, SMTP_CONTEXT) if password else ""
    row.version += 1
    row.save()
    audit_record("settings.updated", row, before=before, after=_facts(row))
    return row
