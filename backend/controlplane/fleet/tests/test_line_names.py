"""Messages about parameters name the instance's real server."""

from __future__ import annotations

import pytest

from controlplane.fleet.definitions import instance_line
from controlplane.fleet.models import Instance
from controlplane.parameters.resolution import resolve


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("product", "version", "name"),
    [
        ("MariaDB", "10.11.19-MariaDB-0+deb12u1", "MariaDB 10.11"),
        ("MySQL", "9.7.4-2", "MySQL 9.7"),
        ("MySQL", "5.7.22-log", "MySQL 5.7"),
        ("", "", "MySQL 5.7"),
    ],
)
def test_an_unknown_parameter_is_said_to_be_unknown_to_the_server_that_there_is(
    product: str, version: str, name: str
) -> None:
    line = instance_line(Instance(product=product, engine_version=version))
    [found] = resolve(line, {"nosuch": "1"}, {}).findings
    assert found.seen == f"nosuch is not a parameter of {name}"
    assert found.facts["server"] == name
