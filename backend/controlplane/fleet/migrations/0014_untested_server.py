from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('fleet', '0013_catalogue_source'),
    ]

    operations = [
        migrations.AddField(
            model_name='instance',
            name='untested_server',
            field=models.CharField(blank=True, max_length=120),
        ),
    ]
