"""Locks, temporary tables, connections and disk. As in 0003, SQLite needs its indexes by time again."""

from django.db import migrations, models

TABLES = ("metrics_sample", "metrics_minuterollup", "metrics_hourrollup", "metrics_sixhourrollup")
MODELS = ("fleetminute", "hourrollup", "minuterollup", "sample", "sixhourrollup")
COUNTERS = (
    "deadlocks", "row_lock_waits", "temporary_tables", "temporary_disk_tables", "refused_connections", "disk_reads",
    "disk_writes",
)  # fmt: skip
GAUGES = ("lock_waiters", "most_connections")


def keep_indexes(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for table in TABLES:
            schema_editor.execute(f"CREATE INDEX IF NOT EXISTS {table}_at ON {table} (at)")


def added(name, field):
    return [migrations.AddField(model_name=model, name=name, field=field) for model in MODELS]


class Migration(migrations.Migration):
    dependencies = [("metrics", "0009_p95")]
    operations = [
        *(each for name in COUNTERS for each in added(name, models.BigIntegerField(default=0))),
        *(each for name in GAUGES for each in added(name, models.FloatField(null=True))),
        migrations.RunPython(keep_indexes, keep_indexes),
    ]
