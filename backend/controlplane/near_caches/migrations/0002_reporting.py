from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('near_caches', '0001_initial'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='nearcache', name='one_row_per_attachment'),
        migrations.AddField(
            model_name='nearcache',
            name='source',
            field=models.CharField(choices=[('attached', 'attached'), ('reporting', 'reporting')], default='attached', help_text="attached: its server's plugin tells of it. reporting: it reports here itself.", max_length=9),
        ),
        migrations.AddField(
            model_name='nearcache',
            name='mode',
            field=models.CharField(choices=[('exact', 'exact'), ('bounded', 'bounded'), ('rules', 'rules')], default='exact', help_text="exact: never outdated, by the plugin. bounded: by the server's binary log. rules: by its rules.", max_length=7),
        ),
        migrations.AddField(
            model_name='nearcache',
            name='version',
            field=models.CharField(blank=True, default='', help_text='Of the program, if it reports.', max_length=32),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='nearcache',
            name='server',
            field=models.CharField(blank=True, default='', help_text='What it calls the server that it stands before, if it reports.', max_length=255),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='nearcache',
            name='obstacle',
            field=models.CharField(blank=True, default='', help_text='Why it serves nothing, in its own words, if it reports.', max_length=500),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='nearcache',
            name='staleness_ms',
            field=models.FloatField(help_text='How old its answers could be. Told by bounded ones alone.', null=True),
        ),
        migrations.AddField(model_name='nearcache', name='has_left', field=models.BooleanField(default=False)),
        migrations.AddField(model_name='nearcache', name='unsampled_hits', field=models.BigIntegerField(default=0)),
        migrations.AddField(model_name='nearcache', name='unsampled_misses', field=models.BigIntegerField(default=0)),
        migrations.AlterField(
            model_name='nearcache',
            name='protocol',
            field=models.PositiveIntegerField(default=0, help_text='Of its attachment; 0: it reports.'),
        ),
        migrations.AlterField(
            model_name='nearcache',
            name='attached_at',
            field=models.DateTimeField(help_text='Of the first poll that found it, or of its first report.'),
        ),
        migrations.AlterField(
            model_name='nearcache',
            name='seen_at',
            field=models.DateTimeField(help_text='Of the newest poll that found it, or of its newest report.'),
        ),
        migrations.AlterField(model_name='nearcache', name='lease_ms', field=models.FloatField(default=0, help_text='What was left of its lease.')),
        migrations.AlterField(model_name='nearcache', name='lag_ms', field=models.FloatField(default=0, help_text='How long its last acknowledgement took.')),
        migrations.AlterField(model_name='nearcache', name='tables', field=models.BigIntegerField(default=0, help_text='Tables of which it may hold results.')),
        migrations.AlterField(
            model_name='nearcache',
            name='hits_per_second',
            field=models.FloatField(help_text='Between the two newest polls or reports; null: there was one alone.', null=True),
        ),
        migrations.AlterField(model_name='nearcache', name='writers_waited', field=models.BigIntegerField(default=0, help_text='Writers that have waited for it.')),
        migrations.AlterField(model_name='nearcache', name='waited_ms', field=models.FloatField(default=0, help_text='How long they waited together.')),
        migrations.AddConstraint(
            model_name='nearcache',
            constraint=models.UniqueConstraint(fields=('instance', 'source', 'name', 'attachment'), name='one_row_per_life'),
        ),
    ]
