"""The storage of a machine may be unknown: nothing on a server tells it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('fleet', '0014_untested_server'),
    ]

    operations = [
        migrations.AlterField(
            model_name='instanceclass',
            name='storage_bytes',
            field=models.PositiveBigIntegerField(help_text='null: not known.', null=True),
        ),
    ]
