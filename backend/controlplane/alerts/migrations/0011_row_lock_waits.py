"""Creates the rule that ships for waits for row locks."""

from django.db import migrations

RULES = [
    {
        "id": "alr-row-lock-waits",
        "name": "waits for row locks",
        "description": "For five minutes, there have been more than ten waits for row locks a second.",
        "metric": "row_lock_waits_per_second",
        "threshold": 10,
        "for_seconds": 300,
    },
]  # fmt: skip


def create(apps, schema_editor):
    rules = apps.get_model("alerts", "AlertRule").objects
    for rule in RULES:
        # A name that an operator took already is his.
        if not rules.filter(name=rule["name"]).exists():
            rules.create(**{"comparison": "gt", **rule})


class Migration(migrations.Migration):
    dependencies = [("alerts", "0010_storage")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
