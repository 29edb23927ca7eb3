"""What the dialect needs beyond the control plane's own rows: used nonces, and numbers of tasks."""

from __future__ import annotations

from django.db import models

from controlplane.changes.models import ChangeSet


class UsedNonce(models.Model):
    """In the database, so that a request is not accepted again by another web process."""

    signer = models.CharField(max_length=16)
    nonce = models.CharField(max_length=128)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["signer", "nonce"], name="one_use_per_nonce")]


class TaskNumber(models.Model):
    """The dialect's task and order ids are integers; a change set's is not. Given out on first mention."""

    id = models.BigAutoField(primary_key=True)
    change = models.OneToOneField(ChangeSet, on_delete=models.CASCADE, related_name="task_number")
