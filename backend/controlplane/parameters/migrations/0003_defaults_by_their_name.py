"""The template of a managed service's defaults fits every server, and its name says so."""

from django.db import migrations

ID = "tpl-57-defaults"
NAME, DESCRIPTION = "managed-defaults", "What a managed service sets by instance class, without the query cache."
BEFORE = "mysql-57-defaults"


def rename(apps, schema_editor):
    Template = apps.get_model("parameters", "Template")
    is_taken = Template.objects.filter(name=NAME).exclude(id=ID).exists()
    given = {"description": DESCRIPTION} if is_taken else {"name": NAME, "description": DESCRIPTION}
    Template.objects.filter(id=ID).update(**given)


def take_back(apps, schema_editor):
    apps.get_model("parameters", "Template").objects.filter(id=ID).update(name=BEFORE)


class Migration(migrations.Migration):
    dependencies = [("parameters", "0002_system_templates")]
    operations = [migrations.RunPython(rename, take_back)]
