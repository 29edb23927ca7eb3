"""The table is the one that `metrics` made: only what Django knows of it moves."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0006_what_a_request_made'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name='Clock',
                    fields=[
                        ('name', models.CharField(max_length=32, primary_key=True, serialize=False)),
                        ('due_at', models.FloatField(default=0)),
                    ],
                    options={
                        'db_table': 'metrics_clock',
                    },
                ),
            ],
        ),
    ]
