"""What a server had counted for each statement at some moment. What happened in between is the difference."""

from __future__ import annotations

from django.db import models

from controlplane.fleet.models import Instance


class StatementNote(models.Model):
    # No constraint: an instance deleted meanwhile must not spoil a round.
    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="+", db_constraint=False)
    at = models.BigIntegerField(db_index=True)  # epoch seconds
    counts = models.JSONField(help_text="By digest: see `counting`.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["instance", "at"], name="one_statement_note_at_a_time")]
