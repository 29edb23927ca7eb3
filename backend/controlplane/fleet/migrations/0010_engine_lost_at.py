from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('fleet', '0009_fqc_version'),
    ]

    operations = [
        migrations.AddField(
            model_name='instance',
            name='engine_lost_at',
            field=models.DateTimeField(null=True),
        ),
    ]
