"""Creates the rules that ship enabled beside the one for a low hit ratio: for states, and for a cache that is too small."""

from django.db import migrations

RULES = [
    {
        "id": "alr-unreachable",
        "name": "server unreachable",
        "description": "The control plane cannot connect to the server.",
        "metric": "unreachable",
        "for_seconds": 60,
        "severity": "critical",
    },
    {
        "id": "alr-engine-lost",
        "name": "plugin lost",
        "description": "The server had the plugin and now runs without it: nothing is served from the cache.",
        "metric": "engine_lost",
        "for_seconds": 60,
        "severity": "critical",
    },
    {
        "id": "alr-drift",
        "name": "configuration drift",
        "description": "Parameters run with another value than the one configured here.",
        "metric": "drifted_parameters",
        "for_seconds": 300,
    },
    {
        "id": "alr-change-failed",
        "name": "change failed",
        "description": "The last change of the instance failed or was rolled back.",
        "metric": "change_failed",
        "for_seconds": 0,
    },
    {
        "id": "alr-cache-too-small",
        "name": "cache too small",
        "description": "For lack of memory, the cache evicts more than half as many results as it stores.",
        "metric": "prune_ratio",
        "threshold": 50,
        "for_seconds": 1800,
        "minimum_traffic": 1,
    },
    {
        "id": "alr-near-detached",
        "name": "near cache detached",
        "description": "A near cache lost its connection to the server and serves nothing from memory.",
        "metric": "near_caches_detached",
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
    dependencies = [("alerts", "0004_times_indexed")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
