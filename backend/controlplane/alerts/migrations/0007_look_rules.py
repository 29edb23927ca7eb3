"""Creates the rules that ship enabled for servers of which nothing is sampled, or whose answers cannot be used."""

from django.db import migrations

RULES = [
    {
        "id": "alr-samples",
        "name": "samples missing",
        "description": "No counters are stored of a server that runs.",
        "metric": "samples_missing",
        "for_seconds": 60,
        "severity": "critical",
    },
    {
        "id": "alr-answers",
        "name": "answers that cannot be used",
        "description": "A server answers in a way that the control plane cannot use.",
        "metric": "answers_unusable",
        "for_seconds": 60,
    },
]  # fmt: skip


def create(apps, schema_editor):
    rules = apps.get_model("alerts", "AlertRule").objects
    for rule in RULES:
        # A name that an operator took already is his.
        if not rules.filter(name=rule["name"]).exists():
            rules.create(**{"comparison": "gt", "threshold": 0, **rule})


class Migration(migrations.Migration):
    dependencies = [("alerts", "0006_channels")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
