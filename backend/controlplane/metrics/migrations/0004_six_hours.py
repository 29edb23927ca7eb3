"""Six hours of an instance in a row, made of the hours that there are; found by time as in 0002."""

from django.db import migrations, models

SIX_HOURS, TABLE, SOURCE = 6 * 3600, "metrics_sixhourrollup", "metrics_hourrollup"


def fill(apps, schema_editor):
    method = "USING brin (at) WITH (pages_per_range = 32)" if schema_editor.connection.vendor == "postgresql" else "(at)"
    schema_editor.execute(f"CREATE INDEX {TABLE}_at ON {TABLE} {method}")
    fields = [each for each in apps.get_model("metrics", "SixHourRollup")._meta.local_concrete_fields if each.name != "at"]
    names = [each.column for each in fields if each.column not in (None, "instance_id")]
    # Counters and the seconds they cover are never null, gauges may be.
    kinds = {each.column: "AVG" if each.null else "SUM" for each in fields}
    schema_editor.execute(
        f"INSERT INTO {TABLE} (instance_id, at, {', '.join(names)})"
        f" SELECT instance_id, at / {SIX_HOURS} * {SIX_HOURS}, {', '.join(f'{kinds[name]}({name})' for name in names)}"
        f" FROM {SOURCE} GROUP BY 1, 2"
    )


class Migration(migrations.Migration):

    dependencies = [
        ('metrics', '0003_avoided_and_stale'),
    ]

    operations = [
        migrations.CreateModel(
            name='SixHourRollup',
            fields=[
                ('at', models.BigIntegerField()),
                ('seconds', models.FloatField(help_text='How much time the counters cover.')),
                ('questions', models.BigIntegerField(default=0)),
                ('selects', models.BigIntegerField(default=0)),
                ('writes', models.BigIntegerField(default=0)),
                ('slow_queries', models.BigIntegerField(default=0)),
                ('hits', models.BigIntegerField(default=0)),
                ('inserts', models.BigIntegerField(default=0)),
                ('not_cached', models.BigIntegerField(default=0)),
                ('lowmem_prunes', models.BigIntegerField(default=0)),
                ('misses', models.BigIntegerField(default=0)),
                ('invalidations', models.BigIntegerField(default=0)),
                ('invalidations_avoided', models.BigIntegerField(default=0)),
                ('stale_hits', models.BigIntegerField(default=0)),
                ('evictions', models.BigIntegerField(default=0)),
                ('saved_bytes', models.BigIntegerField(default=0)),
                ('saved_microseconds', models.BigIntegerField(default=0)),
                ('contained_errors', models.BigIntegerField(default=0)),
                ('pool_reads', models.BigIntegerField(default=0)),
                ('pool_read_requests', models.BigIntegerField(default=0)),
                ('lookups', models.BigIntegerField(default=0)),
                ('free_memory_bytes', models.FloatField(null=True)),
                ('cached_queries', models.FloatField(null=True)),
                ('free_blocks', models.FloatField(null=True)),
                ('total_blocks', models.FloatField(null=True)),
                ('used_bytes', models.FloatField(null=True)),
                ('connections', models.FloatField(null=True)),
                ('running_threads', models.FloatField(null=True)),
                ('uptime_seconds', models.FloatField(null=True)),
                ('cache_size_bytes', models.FloatField(null=True)),
                ('pool_size_bytes', models.FloatField(null=True)),
                ('pk', models.CompositePrimaryKey('instance_id', 'at', blank=True, editable=False, primary_key=True, serialize=False)),
                ('instance_id', models.CharField(max_length=24)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
