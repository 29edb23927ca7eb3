"""Two more counters of the engine.

SQLite adds a column with a default by making the table anew, and only with the indexes that Django knows: those by time
alone (0002) are made again.
"""

from django.db import migrations, models


TABLES = ("metrics_sample", "metrics_minuterollup", "metrics_hourrollup")


def keep_indexes(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for table in TABLES:
            schema_editor.execute(f"CREATE INDEX IF NOT EXISTS {table}_at ON {table} (at)")


class Migration(migrations.Migration):

    dependencies = [
        ('metrics', '0002_time_indexes'),
    ]

    operations = [
        migrations.AddField(
            model_name='fleetminute',
            name='invalidations_avoided',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='fleetminute',
            name='stale_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='hourrollup',
            name='invalidations_avoided',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='hourrollup',
            name='stale_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='minuterollup',
            name='invalidations_avoided',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='minuterollup',
            name='stale_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sample',
            name='invalidations_avoided',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sample',
            name='stale_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.RunPython(keep_indexes, keep_indexes),
    ]
