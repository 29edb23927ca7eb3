"""The clock is of `core` now, which goes on with the same table."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0007_clock'),
        ('metrics', '0004_six_hours'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel(
                    name='Clock',
                ),
            ],
        ),
    ]
