"""Creates the templates that ship."""

from pathlib import Path

import yaml
from django.db import migrations

FILE = Path(__file__).parents[1] / "system_templates.yaml"


def create(apps, schema_editor):
    Template = apps.get_model("parameters", "Template")
    Version = apps.get_model("parameters", "TemplateVersion")
    for raw in yaml.safe_load(FILE.read_text(encoding="utf-8")):
        values = raw.pop("values")
        template = Template.objects.create(engine_line="5.7", is_system=True, **raw)
        Version.objects.create(template=template, number=1, values=values, note="shipped", actor="system")


class Migration(migrations.Migration):
    dependencies = [("parameters", "0001_initial")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
