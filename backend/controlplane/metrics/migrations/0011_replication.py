"""Replication lag and stopped channels. As in 0003, SQLite needs its indexes by time again."""

from django.db import migrations, models

TABLES = ("metrics_sample", "metrics_minuterollup", "metrics_hourrollup", "metrics_sixhourrollup")
MODELS = ("fleetminute", "hourrollup", "minuterollup", "sample", "sixhourrollup")
GAUGES = ("replication_lag_seconds", "stopped_channels")


def keep_indexes(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for table in TABLES:
            schema_editor.execute(f"CREATE INDEX IF NOT EXISTS {table}_at ON {table} (at)")


class Migration(migrations.Migration):
    dependencies = [("metrics", "0010_server_health")]
    operations = [
        *(
            migrations.AddField(model_name=model, name=name, field=models.FloatField(null=True))
            for name in GAUGES
            for model in MODELS
        ),
        migrations.RunPython(keep_indexes, keep_indexes),
    ]
