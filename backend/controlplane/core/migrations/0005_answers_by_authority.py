from django.db import migrations, models


def forget(apps, schema_editor):
    """They say not under which authority they were given, and some have secrets in them."""
    apps.get_model("core", "KeptAnswer").objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [("core", "0004_rate_counts")]

    operations = [
        migrations.RunPython(forget, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name="keptanswer", name="one_answer_per_key"),
        migrations.AddField(
            model_name="keptanswer",
            name="authority",
            field=models.CharField(default="", max_length=128),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name="keptanswer",
            constraint=models.UniqueConstraint(fields=("actor_id", "authority", "key"), name="one_answer_per_key"),
        ),
    ]
