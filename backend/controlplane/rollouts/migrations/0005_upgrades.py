from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('rollouts', '0004_when_and_back'),
    ]

    operations = [
        migrations.AddField(
            model_name='fleetapply',
            name='kind',
            field=models.CharField(choices=[('parameters', 'parameters'), ('upgrade', 'upgrade')], default='parameters', max_length=12),
        ),
        migrations.AddField(
            model_name='fleetapply',
            name='library_digest',
            field=models.CharField(blank=True, help_text='Of its file at the preview.', max_length=64),
        ),
        migrations.AddField(
            model_name='fleetapply',
            name='minor_version',
            field=models.PositiveIntegerField(help_text='Of the engine that an upgrade installs.', null=True),
        ),
        migrations.AddField(
            model_name='fleetapply',
            name='settle_seconds',
            field=models.PositiveIntegerField(default=0, help_text='How long each wave of an upgrade is watched.'),
        ),
        migrations.AddField(
            model_name='fleetapplyitem',
            name='passed_at',
            field=models.DateTimeField(help_text='When the gates let an upgraded instance pass.', null=True),
        ),
        migrations.AlterField(
            model_name='fleetapply',
            name='template_name',
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AlterField(
            model_name='fleetapply',
            name='template_version',
            field=models.PositiveIntegerField(default=0),
        ),
    ]
