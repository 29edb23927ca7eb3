"""Rewrap every sealed secret under the newest of FQC_SEALING_KEYS; afterwards the older ones may be removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import models, transaction

from controlplane.accounts.models import AccessKey
from controlplane.audit.services import audit_record
from controlplane.core.request_context import acting_as
from controlplane.core.sealing import key_name, rewrap
from controlplane.fleet.models import Instance
from controlplane.fleet.sealed import columns
from controlplane.settings.selectors import settings_get


class Command(BaseCommand):
    help = __doc__

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        counts = {(model, column): _rewrap_all(model, column, context) for model, column, context in columns()}
        instances, keys = counts[Instance, "password_sealed"], counts[AccessKey, "secret_sealed"]
        newest = key_name(settings.SEALING_KEYS[0])
        with acting_as("rotate_sealing_key"):
            facts = {"key_name": newest, "instances": instances, "access_keys": keys}
            audit_record("sealing_key.rotated", settings_get(), after=facts)
        self.stdout.write(f"{instances} passwords and {keys} access keys are now under key {newest}")


def _rewrap_all(model: type[models.Model], column: str, context: Callable[[Any], str]) -> int:
    """Encrypts the secrets in `column` of all rows of the model again, under the newest key. Returns their number.

    `context` returns what a row's secret is bound to, so that it cannot be decrypted in another row.
    """
    rows: list[Any] = list(model._default_manager.select_for_update().exclude(**{column: ""}))
    for row in rows:
        setattr(row, column, rewrap(getattr(row, column), settings.SEALING_KEYS, context(row)))
    model._default_manager.bulk_update(rows, [column], batch_size=500)
    return len(rows)
