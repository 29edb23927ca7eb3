from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0003_sessions_and_names'),
    ]

    operations = [
        migrations.AddField(
            model_name='token',
            name='instance_id',
            field=models.CharField(blank=True, db_index=True, default='', help_text='Of a reporter: the instance whose near caches may report. Empty for the others.', max_length=24),
        ),
        migrations.AlterField(
            model_name='token',
            name='scope',
            field=models.CharField(choices=[('reporter', 'reporter'), ('viewer', 'viewer'), ('operator', 'operator'), ('admin', 'admin')], help_text='The most this token may do.', max_length=8),
        ),
    ]
