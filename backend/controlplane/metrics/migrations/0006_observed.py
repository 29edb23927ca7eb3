"""What the cache would do while it is off. As in 0003, SQLite needs its indexes by time again."""

from django.db import migrations, models


TABLES = ("metrics_sample", "metrics_minuterollup", "metrics_hourrollup", "metrics_sixhourrollup")


def keep_indexes(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for table in TABLES:
            schema_editor.execute(f"CREATE INDEX IF NOT EXISTS {table}_at ON {table} (at)")


class Migration(migrations.Migration):

    dependencies = [
        ('metrics', '0005_clock_to_core'),
    ]

    operations = [
        migrations.AddField(
            model_name='fleetminute',
            name='observed_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='fleetminute',
            name='observed_microseconds',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='fleetminute',
            name='observed_requests',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='hourrollup',
            name='observed_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='hourrollup',
            name='observed_microseconds',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='hourrollup',
            name='observed_requests',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='minuterollup',
            name='observed_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='minuterollup',
            name='observed_microseconds',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='minuterollup',
            name='observed_requests',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sample',
            name='observed_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sample',
            name='observed_microseconds',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sample',
            name='observed_requests',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sixhourrollup',
            name='observed_hits',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sixhourrollup',
            name='observed_microseconds',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sixhourrollup',
            name='observed_requests',
            field=models.BigIntegerField(default=0),
        ),
        migrations.RunPython(keep_indexes, keep_indexes),
    ]
