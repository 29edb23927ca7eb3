"""Creates the rule that ships enabled: a cache that is asked and mostly has no answer."""

from django.db import migrations

RULE = {
    "id": "alr-low-hit-ratio",
    "name": "low hit ratio",
    "description": "The cache is in use but answers less than half of what it is asked. Consider type 2, or switch it off.",
    "metric": "hit_ratio",
    "comparison": "lt",
    "threshold": 50,
    "for_seconds": 600,
    "minimum_traffic": 1,
}


def create(apps, schema_editor):
    apps.get_model("alerts", "AlertRule").objects.create(**RULE)


class Migration(migrations.Migration):
    dependencies = [("alerts", "0001_initial")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
