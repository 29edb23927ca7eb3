"""What near caches answered, and what writers waited for them. As in 0003, SQLite needs its indexes by time again."""

from django.db import migrations, models

TABLES = ("metrics_sample", "metrics_minuterollup", "metrics_hourrollup", "metrics_sixhourrollup")


def keep_indexes(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for table in TABLES:
            schema_editor.execute(f"CREATE INDEX IF NOT EXISTS {table}_at ON {table} (at)")


class Migration(migrations.Migration):

    dependencies = [
        ('metrics', '0006_observed'),
    ]

    operations = [
        migrations.AddField(
            model_name='fleetminute',
            name='near_caches',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='fleetminute',
            name='near_caches_detached',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='fleetminute',
            name='near_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='fleetminute',
            name='near_misses',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='fleetminute',
            name='near_waited_microseconds',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='fleetminute',
            name='near_waits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='hourrollup',
            name='near_caches',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='hourrollup',
            name='near_caches_detached',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='hourrollup',
            name='near_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='hourrollup',
            name='near_misses',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='hourrollup',
            name='near_waited_microseconds',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='hourrollup',
            name='near_waits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='minuterollup',
            name='near_caches',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='minuterollup',
            name='near_caches_detached',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='minuterollup',
            name='near_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='minuterollup',
            name='near_misses',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='minuterollup',
            name='near_waited_microseconds',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='minuterollup',
            name='near_waits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sample',
            name='near_caches',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='sample',
            name='near_caches_detached',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='sample',
            name='near_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sample',
            name='near_misses',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sample',
            name='near_waited_microseconds',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sample',
            name='near_waits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sixhourrollup',
            name='near_caches',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='sixhourrollup',
            name='near_caches_detached',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='sixhourrollup',
            name='near_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sixhourrollup',
            name='near_misses',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sixhourrollup',
            name='near_waited_microseconds',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sixhourrollup',
            name='near_waits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.RunPython(keep_indexes, keep_indexes),
    ]
