"""How long statements took, at the 95th percentile. As in 0003, SQLite needs its indexes by time again."""

from django.db import migrations, models

TABLES = ("metrics_sample", "metrics_minuterollup", "metrics_hourrollup", "metrics_sixhourrollup")
MODELS = ("fleetminute", "hourrollup", "minuterollup", "sample", "sixhourrollup")


def keep_indexes(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for table in TABLES:
            schema_editor.execute(f"CREATE INDEX IF NOT EXISTS {table}_at ON {table} (at)")


class Migration(migrations.Migration):

    dependencies = [
        ('metrics', '0008_verified'),
    ]

    operations = [
        *(
            migrations.AddField(model_name=model, name=name, field=models.BigIntegerField(default=0))
            for model in MODELS
            for name in ('answered', 'p95_sum_microseconds')
        ),
        migrations.RunPython(keep_indexes, keep_indexes),
    ]
