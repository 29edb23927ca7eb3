"""Indexes by time alone, for rollups, alerts and expiry, which look at all instances at once.

Rows arrive in the order of time, so on PostgreSQL a BRIN index of a few pages finds them; a B-tree of every sample would
cost as much as the key. Django's own index classes have no BRIN that other databases ignore.
"""

from django.db import migrations

TABLES = ("metrics_sample", "metrics_minuterollup", "metrics_hourrollup")


def create(apps, schema_editor):
    method = "USING brin (at) WITH (pages_per_range = 32)" if schema_editor.connection.vendor == "postgresql" else "(at)"
    for table in TABLES:
        schema_editor.execute(f"CREATE INDEX {table}_at ON {table} {method}")


def drop(apps, schema_editor):
    for table in TABLES:
        schema_editor.execute(f"DROP INDEX {table}_at")


class Migration(migrations.Migration):
    dependencies = [("metrics", "0001_initial")]
    operations = [migrations.RunPython(create, drop)]
