"""Samples and their rollups. Times are whole epoch seconds: the same SQL buckets them on every database.

On PostgreSQL `Sample` and `MinuteRollup` are partitioned by time (`partitions`); a partition past its retention is
dropped instead of deleted row by row. No foreign keys: samples outlive their instance until they expire.
"""

from __future__ import annotations

from django.db import models

from controlplane.core.choices import TextChoices
from controlplane.core.ids import ID_LENGTH
from controlplane.fleet.models import Instance
from controlplane.metrics.columns import COUNTER_COLUMNS, GAUGE_COLUMNS


class Measures(models.Model):
    """The columns of one bucket of time: how much each counter has grown in it, and the value of each gauge. A counter
    that the server does not have is 0; a gauge that it does not have is null.
    """

    at = models.BigIntegerField()  # start of the bucket; for a sample, the time it was taken
    seconds = models.FloatField(help_text="How much time the counters cover.")

    class Meta:
        abstract = True


for _column in COUNTER_COLUMNS:
    Measures.add_to_class(_column, models.BigIntegerField(default=0))
for _column in GAUGE_COLUMNS:
    Measures.add_to_class(_column, models.FloatField(null=True))


class InstanceMeasures(Measures):
    pk = models.CompositePrimaryKey("instance_id", "at")
    instance_id = models.CharField(max_length=ID_LENGTH)

    class Meta:
        abstract = True


class Sample(InstanceMeasures):
    pass


class MinuteRollup(InstanceMeasures):
    pass


class HourRollup(InstanceMeasures):
    pass


class SixHourRollup(InstanceMeasures):
    """Buckets of six hours, for charts of many instances over a month.

    The rows of an instance are far apart, since rows are in order of time: each one that is read costs a page of the
    table.
    """


class FleetMinute(Measures):
    """All instances together: counters and gauges are added up, `seconds` is averaged so that rates are those of the
    fleet.
    """

    at = models.BigIntegerField(primary_key=True)


class StorageGap(TextChoices):
    """The reason why a figure about a server's storage is missing."""

    NONE = "none", "it is there"
    PRIVILEGE = "privilege", "the account lacks a privilege"
    TOO_SLOW = "too_slow", "the server took too long"
    NOT_TOLD = "not_told", "the server does not tell it"


class DiskSource(TextChoices):
    """Where the size and the free space of a server's disk come from."""

    NONE = "none", "it is not known"
    DISK = "disk", "the disk that holds the data"
    ALLOCATED = "allocated", "the storage of the instance's class"


class StorageLook(models.Model):
    """The storage that the server of an instance uses, as last read from it."""

    # No constraint: an instance that is deleted during a round must not make the round fail.
    instance = models.OneToOneField(
        Instance, on_delete=models.CASCADE, primary_key=True, related_name="storage_look", db_constraint=False
    )
    tried_at = models.FloatField(db_index=True, help_text="Epoch seconds.")
    at = models.FloatField(null=True, help_text="Epoch seconds of the last answer; null: there was none.")
    table_bytes = models.BigIntegerField(null=True, help_text="Files of InnoDB; null: see `table_gap`.")
    table_gap = models.CharField(max_length=16, choices=StorageGap.choices, default=StorageGap.NONE)
    binary_log_bytes = models.BigIntegerField(null=True, help_text="0 without binary logs; null: see `binary_log_gap`.")
    binary_log_gap = models.CharField(max_length=16, choices=StorageGap.choices, default=StorageGap.NONE)
    disk_bytes = models.BigIntegerField(null=True, help_text="null: not known.")
    disk_free_bytes = models.BigIntegerField(null=True, help_text="null: not known.")
    disk_gap = models.CharField(
        max_length=16,
        choices=StorageGap.choices,
        default=StorageGap.NONE,
        help_text="Why the server does not tell its free disk.",
    )
    disk_source = models.CharField(
        max_length=16,
        choices=DiskSource.choices,
        default=DiskSource.NONE,
        help_text="What the size of the disk, and its free space, are those of.",
    )


class Latest(models.Model):
    """The newest raw reading of an instance. The next sample's growth is computed from it."""

    # No constraint: an instance that is deleted during a round must not make the round fail.
    instance = models.OneToOneField(
        Instance, on_delete=models.CASCADE, primary_key=True, related_name="latest", db_constraint=False
    )
    at = models.FloatField()
    readings = models.JSONField(help_text="Counters and gauges as the server said them.")
    growth = models.JSONField(help_text="The columns of its sample.")
    hit_ratio = models.FloatField(null=True)
    lookups_per_second = models.FloatField(null=True)
