"""Which sample a slot keeps when it is sampled twice."""

from __future__ import annotations

import pytest

from controlplane.metrics.columns import COUNTER_COLUMNS, GAUGE_COLUMNS
from controlplane.metrics.intervals import Reading
from controlplane.metrics.models import Sample
from controlplane.metrics.partitions import partitions_ensure
from controlplane.metrics.tests.fleet import instance_make
from controlplane.metrics.writing import Found, round_write

T = 1_800_000_000


@pytest.mark.django_db
@pytest.mark.parametrize(("seconds_of_uptime", "hits"), [(15, 1), (3600, 2)], ids=["a second round", "an hour later"])
def test_a_slot_keeps_its_sample_unless_the_clock_was_set_back_since(seconds_of_uptime: int, hits: int) -> None:
    instance = instance_make()
    partitions_ensure(Sample, T, T)
    for grown, uptime in ((1, 5000), (2, 5000 + seconds_of_uptime)):
        numbers = dict.fromkeys((*COUNTER_COLUMNS, *GAUGE_COLUMNS), 0) | {"hits": grown, "uptime_seconds": uptime}
        round_write(T, {instance.pk: Found(Reading(T, {}), {"seconds": 15.0, **numbers})})
    assert Sample.objects.get(instance_id=instance.pk).hits == hits
