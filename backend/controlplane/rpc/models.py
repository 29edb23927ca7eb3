"""Rows that only the RPC dialect needs: used nonces, and numbers of tasks."""

from __future__ import annotations

from django.db import models

from controlplane.changes.models import ChangeSet


class UsedNonce(models.Model):
    """A nonce that an access key has signed a request with.

    Stored in the database, so that no web process accepts the same request again.
    """

    signer = models.CharField(max_length=16)
    nonce = models.CharField(max_length=128)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["signer", "nonce"], name="one_use_per_nonce")]


class TaskNumber(models.Model):
    """The number of a change set, since the dialect's task and order ids are integers.

    Assigned when it is first needed.
    """

    id = models.BigAutoField(primary_key=True)
    change = models.OneToOneField(ChangeSet, on_delete=models.CASCADE, related_name="task_number")
