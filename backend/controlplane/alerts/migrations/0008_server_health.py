"""Creates the rules that ship for connections, deadlocks and temporary tables. It also reports an unreachable server sooner."""

from django.db import migrations

RULES = [
    {
        "id": "alr-connections",
        "name": "connections running out",
        "description": "More than 85 % of the connections that the server allows are open.",
        "metric": "connections_used_ratio",
        "threshold": 85,
        "for_seconds": 60,
        "severity": "critical",
    },
    {
        "id": "alr-deadlocks",
        "name": "deadlocks",
        "description": "For five minutes, transactions have been rolled back because of deadlocks more than once in 10 s.",
        "metric": "deadlocks_per_second",
        "threshold": 0.1,
        "for_seconds": 300,
    },
    {
        "id": "alr-temporary-tables",
        "name": "temporary tables on disk",
        "description": "For half an hour, more than half of the temporary tables were written to disk.",
        "metric": "temporary_disk_ratio",
        "threshold": 50,
        "for_seconds": 1800,
        "minimum_traffic": 1,
    },
]  # fmt: skip
SOONER_SECONDS = 10


def create(apps, schema_editor):
    rules = apps.get_model("alerts", "AlertRule").objects
    for rule in RULES:
        # A name that an operator took already is his.
        if not rules.filter(name=rule["name"]).exists():
            rules.create(**{"comparison": "gt", **rule})
    # An operator's own choice stays.
    rules.filter(pk="alr-unreachable", for_seconds=60).update(for_seconds=SOONER_SECONDS)


class Migration(migrations.Migration):
    dependencies = [("alerts", "0007_look_rules")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
