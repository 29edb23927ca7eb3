from __future__ import annotations

from typing import Any

from django.conf import settings as process_settings
from django.db import transaction

from controlplane.audit.services import audit_record
from controlplane.core.etag import ANY_VERSION, IfMatch, row_held
from controlplane.core.sealing import seal
from controlplane.settings.models import Settings
from controlplane.settings.selectors import SMTP_CONTEXT

NOT_FACTS = {"id", "updated_at"}


def _facts(row: Settings) -> dict[str, Any]:
    return {field.name: getattr(row, field.name) for field in row._meta.fields if field.name not in NOT_FACTS}


@transaction.atomic
def settings_update(row: Settings, changes: dict[str, Any], expected: IfMatch = ANY_VERSION) -> Settings:
    row = row_held(row, expected)
    before = _facts(row)
    password = changes.pop("smtp_password", None)
    if password is not None:
        row.smtp_password_sealed = seal(password, process_settings.SEALING_KEYS, SMTP_CONTEXT) if password else ""
    for name, value in changes.items():
        setattr(row, name, value)
    row.version += 1
    row.save()
    audit_record("settings.updated", row, before=before, after=_facts(row))
    return row
