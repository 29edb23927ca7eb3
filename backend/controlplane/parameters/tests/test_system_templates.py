"""The templates that ship resolve without a blocking finding on every class from tiny to huge."""

from __future__ import annotations

import pytest

from controlplane.catalogue.selectors import line_get
from controlplane.parameters.models import Template
from controlplane.parameters.resolution import resolve
from controlplane.parameters.selectors import template_values

GIB = 1024**3
pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("memory", [GIB - GIB * 65 // 100, GIB, 2 * GIB, 12 * GIB, 512 * GIB])
def test_no_class_is_too_small_or_too_large(memory: int) -> None:
    variables = {"DBInstanceClassMemory": memory, "DBInstanceClassCPU": 1, "DBInstanceClassConnections": 100}
    for template in Template.objects.filter(is_system=True):
        found = resolve(line_get(template.engine_line), template_values(template), variables)
        assert not found.is_blocked, (template.name, found.findings)
        assert all(value.resolved is not None for value in found.values)


def test_the_enabling_template_follows_the_documented_rule() -> None:
    variables = {"DBInstanceClassMemory": 12 * GIB, "DBInstanceClassCPU": 4, "DBInstanceClassConnections": 100}
    template = Template.objects.get(name="fast-query-cache-on")
    found = {
        value.name: value.resolved for value in resolve(line_get("5.7"), template_values(template), variables).values
    }
    before = 12 * GIB * 7 // 10
    assert found["query_cache_type"] == "1"
    assert int(found["innodb_buffer_pool_size"] or 0) == 8117488189  # 90 % of it
    assert before // 10 - 1024 < int(found["query_cache_size"] or 0) <= before // 10
