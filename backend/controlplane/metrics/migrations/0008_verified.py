"""Hits that were compared with the server's answer, and those that differed. As in 0003, SQLite needs its indexes by time again."""

from django.db import migrations, models

TABLES = ("metrics_sample", "metrics_minuterollup", "metrics_hourrollup", "metrics_sixhourrollup")


def keep_indexes(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for table in TABLES:
            schema_editor.execute(f"CREATE INDEX IF NOT EXISTS {table}_at ON {table} (at)")


class Migration(migrations.Migration):

    dependencies = [
        ('metrics', '0007_near'),
    ]

    operations = [
        migrations.AddField(
            model_name='fleetminute',
            name='differences',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='fleetminute',
            name='verified',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='hourrollup',
            name='differences',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='hourrollup',
            name='verified',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='minuterollup',
            name='differences',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='minuterollup',
            name='verified',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sample',
            name='differences',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sample',
            name='verified',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sixhourrollup',
            name='differences',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='sixhourrollup',
            name='verified',
            field=models.BigIntegerField(default=0),
        ),
        migrations.RunPython(keep_indexes, keep_indexes),
    ]
