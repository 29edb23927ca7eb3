
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('alerts', '0002_low_hit_ratio'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='standing',
            name='recovering_since',
        ),
        migrations.RemoveField(
            model_name='standing',
            name='reminded_at',
        ),
        migrations.RemoveField(
            model_name='standing',
            name='since',
        ),
        migrations.AddField(
            model_name='standing',
            name='broken_seconds',
            field=models.FloatField(default=0, help_text='Of samples in a row; once open: since it was told last.'),
        ),
        migrations.AddField(
            model_name='standing',
            name='good_seconds',
            field=models.FloatField(help_text='Of samples in a row, while open.', null=True),
        ),
        migrations.AddField(
            model_name='standing',
            name='sampled_at',
            field=models.BigIntegerField(default=0, help_text='The newest sample that was judged.'),
        ),
    ]
