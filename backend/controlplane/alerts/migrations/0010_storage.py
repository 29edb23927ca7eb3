"""Creates the rule that ships for disks."""

from django.db import migrations

RULES = [
    {
        "id": "alr-disk-full",
        "name": "disk nearly full",
        "description": "For five minutes, less than a tenth of the disk, or of the allocated storage, has been free.",
        "metric": "disk_free_ratio",
        "threshold": 10,
        "for_seconds": 300,
        "severity": "critical",
    },
]  # fmt: skip


def create(apps, schema_editor):
    rules = apps.get_model("alerts", "AlertRule").objects
    for rule in RULES:
        # A name that an operator took already is his.
        if not rules.filter(name=rule["name"]).exists():
            rules.create(**{"comparison": "lt", **rule})


class Migration(migrations.Migration):
    dependencies = [("alerts", "0009_replication")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
