"""Rewrap every sealed secret under the newest of FQC_SEALING_KEYS; afterwards the older ones may be removed."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import models, transaction

from controlplane.accounts.models import AccessKey
from controlplane.audit.services import audit_record
from controlplane.core.models import KeptAnswer
from controlplane.core.request_context import acting_as
from controlplane.core.sealing import key_name, rewrap
from controlplane.fleet.models import Instance
from controlplane.settings.selectors import SMTP_CONTEXT, settings_get


class Command(BaseCommand):
    help = __doc__

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        instances = _rewrap_all(Instance, "password_sealed")
        _rewrap_all(Instance, "trial_password_sealed", "trial_secret_context")
        keys = _rewrap_all(AccessKey, "secret_sealed")
        _rewrap_all(KeptAnswer, "answer_sealed")
        row = settings_get()
        if row.smtp_password_sealed:
            row.smtp_password_sealed = rewrap(row.smtp_password_sealed, settings.SEALING_KEYS, SMTP_CONTEXT)
            row.save(update_fields=["smtp_password_sealed"])
        newest = key_name(settings.SEALING_KEYS[0])
        with acting_as("rotate_sealing_key"):
            facts = {"key_name": newest, "instances": instances, "access_keys": keys}
            audit_record("sealing_key.rotated", row, after=facts)
        self.stdout.write(f"{instances} passwords and {keys} access keys are now under key {newest}")


def _rewrap_all(model: type[models.Model], column: str, context: str = "secret_context") -> int:
    """Every row that has a secret; each knows the context that its secret is sealed with."""
    rows: list[Any] = list(model._default_manager.select_for_update().exclude(**{column: ""}))
    for row in rows:
        setattr(row, column, rewrap(getattr(row, column), settings.SEALING_KEYS, getattr(row, context)))
    model._default_manager.bulk_update(rows, [column], batch_size=500)
    return len(rows)
