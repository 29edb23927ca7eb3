"""Engine lines read from running servers. The shipped lines are files (`lines/`), not rows."""

from __future__ import annotations

from django.db import models


class EngineLine(models.Model):
    """Replaced as a whole when a newer server of the line is read; definitions are never edited."""

    id = models.CharField(primary_key=True, max_length=32)  # "mariadb-10.11"
    product = models.CharField(max_length=16)
    version = models.CharField(max_length=16)
    server_version = models.CharField(max_length=128)
    definitions = models.JSONField()
    read_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
