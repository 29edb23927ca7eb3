"""Tables that an upgrade adds are filled from existing data."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from controlplane.metrics.models import HourRollup, SixHourRollup

HOUR = 3600
T = 1_800_000_000 // 86400 * 86400


@pytest.mark.django_db(transaction=True)
def test_the_hours_of_before_an_upgrade_are_in_the_six_hours_after_it():
    six_hours = import_module("controlplane.metrics.migrations.0004_six_hours")
    for hour, connections in ((0, 2.0), (5, None), (6, 4.0)):
        HourRollup.objects.create(
            instance_id="rm-a", at=T + hour * HOUR, seconds=3600, hits=hour, connections=connections
        )
    with connection.schema_editor() as editor:
        editor.execute(f"DROP INDEX {six_hours.TABLE}_at")
        six_hours.fill(apps, editor)
    found = SixHourRollup.objects.order_by("at").values_list("at", "seconds", "hits", "connections")
    assert list(found) == [(T, 7200.0, 5, 2.0), (T + 6 * HOUR, 3600.0, 6, 4.0)]
