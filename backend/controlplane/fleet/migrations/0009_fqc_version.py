from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("fleet", "0008_engine_obstacle")]

    operations = [
        migrations.AddField("instance", "fqc_version", models.CharField(blank=True, max_length=32)),
    ]
