"""What a server said last of each near cache. How many hits there were when, samples of the instance tell."""

from __future__ import annotations

from django.db import models

from controlplane.fleet.models import Instance

NAME_LENGTH, ADDRESS_LENGTH = 64, 80


class NearCache(models.Model):
    # No constraint: an instance deleted in the middle of a round must not spoil the round.
    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="near_caches", db_constraint=False)
    attachment = models.BigIntegerField()  # the server's own number, from 1 in each of its lives
    name = models.CharField(max_length=NAME_LENGTH)
    address = models.CharField(max_length=ADDRESS_LENGTH, blank=True)
    protocol = models.PositiveIntegerField()
    is_attached = models.BooleanField(default=True)
    attached_at = models.DateTimeField(help_text="Of the first poll that found it.")
    seen_at = models.DateTimeField(help_text="Of the newest poll that found it.")
    lease_ms = models.FloatField(help_text="What was left of its lease.")
    lag_ms = models.FloatField(help_text="How long its last acknowledgement took.")
    tables = models.BigIntegerField(help_text="Tables of which it may hold results.")
    entries = models.BigIntegerField()
    stored_bytes = models.BigIntegerField()
    hits = models.BigIntegerField()
    misses = models.BigIntegerField()
    hits_per_second = models.FloatField(null=True, help_text="Between the two newest polls; null: there was one alone.")
    misses_per_second = models.FloatField(null=True)
    writers_waited = models.BigIntegerField(help_text="Writers that have waited for it.")
    waited_ms = models.FloatField(help_text="How long they waited together.")

    class Meta:
        ordering = ("name", "id")
        constraints = [
            models.UniqueConstraint(fields=["instance", "name", "attachment"], name="one_row_per_attachment")
        ]
        indexes = [models.Index(fields=["is_attached", "seen_at"], name="near_cache_seen")]
