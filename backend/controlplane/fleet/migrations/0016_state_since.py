"""When an instance's state began, and when an unreachable server missed a second probe."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('fleet', '0015_storage_unknown'),
    ]

    operations = [
        migrations.AddField(
            model_name='instance',
            name='state_since',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='instance',
            name='missed_again_at',
            field=models.DateTimeField(null=True),
        ),
    ]
