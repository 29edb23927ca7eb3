"""A server's counts per statement at certain times. Growth is the difference between two notes."""

from __future__ import annotations

from django.db import models

from controlplane.fleet.models import Instance


class StatementNote(models.Model):
    # No constraint: an instance that is deleted during a round must not make the round fail.
    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="+", db_constraint=False)
    at = models.BigIntegerField(db_index=True)  # epoch seconds
    counts = models.JSONField(help_text="By digest: see `counting`.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["instance", "at"], name="one_statement_note_at_a_time")]
