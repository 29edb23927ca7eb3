from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('rollouts', '0005_upgrades'),
    ]

    operations = [
        migrations.AddField(
            model_name='fleetapply',
            name='max_p95_percent',
            field=models.PositiveIntegerField(help_text='Of an upgrade: how long statements may take after it, in percent of before.', null=True),
        ),
        migrations.AddField(
            model_name='fleetapplyitem',
            name='p95_before_ms',
            field=models.FloatField(help_text='Answer time, 95th percentile, in the hour before an upgrade.', null=True),
        ),
        migrations.AddField(
            model_name='fleetapplyitem',
            name='p95_after_ms',
            field=models.FloatField(help_text='The same after it.', null=True),
        ),
    ]
