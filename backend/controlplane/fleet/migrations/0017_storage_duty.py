from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('fleet', '0016_state_since'),
    ]

    operations = [
        migrations.AlterField(
            model_name='lookfault',
            name='duty',
            field=models.CharField(choices=[('poll', 'poll'), ('near_caches', 'near caches'), ('watch', 'watch'), ('statements', 'statements'), ('privileges', 'privileges'), ('observations', 'observations'), ('storage', 'storage')], max_length=16),
        ),
    ]
