"""Rewrap every sealed secret under the newest of FQC_SEALING_KEYS; afterwards the older ones may be removed."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction

from controlplane.accounts.models import AccessKey
from controlplane.audit.services import audit_record
from controlplane.core.request_context import acting_as
from controlplane.core.sealing import key_name, rewrap
from controlplane.fleet.models import Instance
from controlplane.settings.selectors import SMTP_CONTEXT, settings_get


class Command(BaseCommand):
    help = __doc__

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        instances = list(Instance.objects.select_for_update().exclude(password_sealed=""))
        for instance in instances:
            instance.password_sealed = rewrap(instance.password_sealed, settings.SEALING_KEYS, instance.secret_context)
        Instance.objects.bulk_update(instances, ["password_sealed"], batch_size=500)
        keys = list(AccessKey.objects.select_for_update())
        for key in keys:
            key.secret_sealed = rewrap(key.secret_sealed, settings.SEALING_KEYS, key.secret_context)
        AccessKey.objects.bulk_update(keys, ["secret_sealed"], batch_size=500)
        row = settings_get()
        if row.smtp_password_sealed:
            row.smtp_password_sealed = rewrap(row.smtp_password_sealed, settings.SEALING_KEYS, SMTP_CONTEXT)
            row.save(update_fields=["smtp_password_sealed"])
        newest = key_name(settings.SEALING_KEYS[0])
        with acting_as("rotate_sealing_key"):
            facts = {"key_name": newest, "instances": len(instances), "access_keys": len(keys)}
            audit_record("sealing_key.rotated", row, after=facts)
        self.stdout.write(f"{len(instances)} passwords and {len(keys)} access keys are now under key {newest}")
