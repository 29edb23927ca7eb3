"""Engine lines read from running servers. The shipped lines are files (`lines/`), not rows."""

from __future__ import annotations

from django.db import models


class EngineLine(models.Model):
    """The definitions of all parameters of a product and release, as running servers have described them. The first
    server that is read describes the line. A server with a newer engine, which may have more variables, adds to it.

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
