"""Creates the rules that ship for replicas."""

from django.db import migrations

RULES = [
    {
        "id": "alr-replication-lag",
        "name": "replica behind",
        "description": "For five minutes, a replica has been more than a minute behind its source.",
        "metric": "replication_lag",
        "threshold": 60,
        "for_seconds": 300,
    },
    {
        "id": "alr-replication-stopped",
        "name": "replication stopped",
        "description": "For a minute, a replica has not replicated: it is stopped, has failed, or cannot reach its source.",
        "metric": "stopped_channels",
        "threshold": 0,
        "for_seconds": 60,
        "severity": "critical",
    },
]  # fmt: skip


def create(apps, schema_editor):
    rules = apps.get_model("alerts", "AlertRule").objects
    for rule in RULES:
        # A name that an operator took already is his.
        if not rules.filter(name=rule["name"]).exists():
            rules.create(**{"comparison": "gt", **rule})


class Migration(migrations.Migration):
    dependencies = [("alerts", "0008_server_health")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
