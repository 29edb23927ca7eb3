import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("changes", "0004_persist"), ("rollouts", "0003_needs_admin")]

    operations = [
        migrations.AddField("fleetapply", "at", models.DateTimeField(null=True)),
        migrations.AddField(
            "fleetapply",
            "reverts",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="reverted_by",
                to="rollouts.fleetapply",
            ),
        ),
        migrations.AddField(
            "fleetapply",
            "when",
            models.CharField(
                choices=[("now", "now"), ("window", "window"), ("at", "at")], default="now", max_length=8
            ),
        ),
        migrations.AddField(
            "fleetapplyitem",
            "reverts",
            models.ForeignKey(
                help_text="What it takes back.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="changes.changeset",
            ),
        ),
    ]
