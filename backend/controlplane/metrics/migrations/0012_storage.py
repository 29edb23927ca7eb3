"""The storage of servers. As in 0003, SQLite needs its indexes by time again."""

import django.db.models.deletion
from django.db import migrations, models

TABLES = ("metrics_sample", "metrics_minuterollup", "metrics_hourrollup", "metrics_sixhourrollup")
MODELS = ("fleetminute", "hourrollup", "minuterollup", "sample", "sixhourrollup")
GAUGES = ("table_bytes", "binary_log_bytes", "disk_bytes", "disk_free_bytes")
GAPS = [
    ("none", "it is there"),
    ("privilege", "the account lacks a privilege"),
    ("too_slow", "the server took too long"),
    ("not_told", "the server does not tell it"),
]
SOURCES = [
    ("none", "it is not known"),
    ("disk", "the disk that holds the data"),
    ("allocated", "the storage of the instance's class"),
]


def keep_indexes(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for table in TABLES:
            schema_editor.execute(f"CREATE INDEX IF NOT EXISTS {table}_at ON {table} (at)")


class Migration(migrations.Migration):
    dependencies = [("fleet", "0017_storage_duty"), ("metrics", "0011_replication")]
    operations = [
        migrations.CreateModel(
            name="StorageLook",
            fields=[
                (
                    "instance",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="storage_look",
                        serialize=False,
                        to="fleet.instance",
                    ),
                ),
                ("tried_at", models.FloatField(db_index=True, help_text="Epoch seconds.")),
                (
                    "at",
                    models.FloatField(help_text="Epoch seconds of the last answer; null: there was none.", null=True),
                ),
                ("table_bytes", models.BigIntegerField(help_text="Files of InnoDB; null: see `table_gap`.", null=True)),
                ("table_gap", models.CharField(choices=GAPS, default="none", max_length=16)),
                (
                    "binary_log_bytes",
                    models.BigIntegerField(help_text="0 without binary logs; null: see `binary_log_gap`.", null=True),
                ),
                ("binary_log_gap", models.CharField(choices=GAPS, default="none", max_length=16)),
                ("disk_bytes", models.BigIntegerField(help_text="null: not known.", null=True)),
                ("disk_free_bytes", models.BigIntegerField(help_text="null: not known.", null=True)),
                (
                    "disk_gap",
                    models.CharField(
                        choices=GAPS,
                        default="none",
                        help_text="Why the server does not tell its free disk.",
                        max_length=16,
                    ),
                ),
                (
                    "disk_source",
                    models.CharField(
                        choices=SOURCES,
                        default="none",
                        help_text="What the size of the disk, and its free space, are those of.",
                        max_length=16,
                    ),
                ),
            ],
        ),
        *(
            migrations.AddField(model_name=model, name=name, field=models.FloatField(null=True))
            for name in GAUGES
            for model in MODELS
        ),
        migrations.RunPython(keep_indexes, keep_indexes),
    ]
