"""The audit trail. Rows are added and never changed; the product only deletes them by age (`expiring`)."""

from __future__ import annotations

from functools import partial

from django.db import models

from controlplane.core.ids import ID_LENGTH, new_id


class AuditEvent(models.Model):
    id = models.CharField(primary_key=True, max_length=ID_LENGTH, default=partial(new_id, "aud"), editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    actor = models.CharField(max_length=150)
    actor_id = models.CharField(max_length=ID_LENGTH, blank=True)
    token_prefix = models.CharField(max_length=16, blank=True)
    address = models.CharField(max_length=64, blank=True)
    request_id = models.CharField(max_length=64, blank=True)
    action = models.CharField(max_length=64)  # "<entity>.<past participle>"
    target_type = models.CharField(max_length=32)
    target_id = models.CharField(max_length=64)
    target_name = models.CharField(max_length=200, blank=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="audit_newest"),
            models.Index(fields=["target_type", "target_id", "-created_at"], name="audit_target"),
            models.Index(fields=["actor", "-created_at"], name="audit_actor"),
        ]
