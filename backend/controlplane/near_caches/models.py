"""The last known state of each near cache, reported by the server that it is attached to, or else by itself.

The history of hits is in the samples of the instance.
"""

from __future__ import annotations

from django.db import models

from controlplane.core.choices import TextChoices
from controlplane.fleet.models import Instance
from controlplane.near_caches import ways

NAME_LENGTH, ADDRESS_LENGTH = 64, 80
VERSION_LENGTH, SERVER_LENGTH, OBSTACLE_LENGTH = 32, 255, 500


class Source(TextChoices):
    """What reports a near cache to the control plane: the server that it is attached to, or the near cache itself."""

    ATTACHED = "attached", "attached"
    REPORTING = "reporting", "reporting"


class Mode(TextChoices):
    EXACT = ways.EXACT, "exact"
    BOUNDED = ways.BOUNDED, "bounded"
    RULES = ways.RULED, "rules"


class NearCache(models.Model):
    # No constraint: an instance that is deleted during a round must not make the round fail.
    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="near_caches", db_constraint=False)
    source = models.CharField(
        max_length=9,
        choices=Source.choices,
        default=Source.ATTACHED,
        help_text="attached: its server's plugin tells of it. reporting: it reports here itself.",
    )
    # The server's number for the attachment, which restarts at 1 with the server; or the number that a reporting near
    # cache drew at its start.
    attachment = models.BigIntegerField()
    name = models.CharField(max_length=NAME_LENGTH)
    address = models.CharField(max_length=ADDRESS_LENGTH, blank=True)
    mode = models.CharField(
        max_length=7,
        choices=Mode.choices,
        default=Mode.EXACT,
        help_text="exact: never outdated, by the plugin. bounded: by the server's binary log. rules: by its rules.",
    )
    version = models.CharField(max_length=VERSION_LENGTH, blank=True, help_text="Of the program, if it reports.")
    server = models.CharField(
        max_length=SERVER_LENGTH, blank=True, help_text="What it calls the server that it stands before, if it reports."
    )
    obstacle = models.CharField(
        max_length=OBSTACLE_LENGTH, blank=True, help_text="Why it serves nothing, in its own words, if it reports."
    )
    staleness_ms = models.FloatField(null=True, help_text="How old its answers could be. Told by bounded ones alone.")
    protocol = models.PositiveIntegerField(default=0, help_text="Of its attachment; 0: it reports.")
    is_attached = models.BooleanField(default=True)
    has_left = models.BooleanField(default=False)  # it announced that it stops
    attached_at = models.DateTimeField(help_text="Of the first poll that found it, or of its first report.")
    seen_at = models.DateTimeField(help_text="Of the newest poll that found it, or of its newest report.")
    lease_ms = models.FloatField(default=0, help_text="What was left of its lease.")
    lag_ms = models.FloatField(default=0, help_text="How long its last acknowledgement took.")
    tables = models.BigIntegerField(default=0, help_text="Tables of which it may hold results.")
    entries = models.BigIntegerField()
    stored_bytes = models.BigIntegerField()
    hits = models.BigIntegerField()
    misses = models.BigIntegerField()
    observed_hits = models.BigIntegerField(
        null=True, help_text="Reads that it would have answered, of one that only observes."
    )
    observed_different = models.BigIntegerField(
        null=True, help_text="Those of them that the server answered otherwise."
    )
    observed_saved_ms = models.BigIntegerField(null=True, help_text="How long they took the server.")
    hits_per_second = models.FloatField(
        null=True, help_text="Between the two newest polls or reports; null: there was one alone."
    )
    misses_per_second = models.FloatField(null=True)
    writers_waited = models.BigIntegerField(default=0, help_text="Writers that have waited for it.")
    waited_ms = models.FloatField(default=0, help_text="How long they waited together.")
    # Hits and misses reported since the newest sample of the instance.
    unsampled_hits = models.BigIntegerField(default=0)
    unsampled_misses = models.BigIntegerField(default=0)

    class Meta:
        ordering = ("name", "id")
        constraints = [
            models.UniqueConstraint(fields=["instance", "source", "name", "attachment"], name="one_row_per_life")
        ]
        indexes = [models.Index(fields=["is_attached", "seen_at"], name="near_cache_seen")]
