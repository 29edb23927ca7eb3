"""Engine lines read from running servers. The shipped lines are files (`lines/`), not rows."""

from __future__ import annotations

from django.db import models


class EngineLine(models.Model):
    """An engine line (the definitions of all parameters of a product and release) as servers described it: one that had
    no engine, then those that had a newer engine each.

    Definitions are never edited; a line that an administrator deletes is read again.
    """

    id = models.CharField(primary_key=True, max_length=32)  # "mariadb-10.11"
    product = models.CharField(max_length=16)
    version = models.CharField(max_length=16)
    server_version = models.CharField(max_length=128)
    # The newest engine among the servers that described the line; none if no server had the engine.
    minor_version = models.PositiveIntegerField(null=True)
    definitions = models.JSONField()
    read_at = models.DateTimeField()
    read_from = models.CharField(max_length=64, blank=True)  # name of the instance; empty in rows of older versions

    class Meta:
        ordering = ("id",)
