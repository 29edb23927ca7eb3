"""An engine that was allowed into a server of an untested version reports that, and the instance stores it."""

from __future__ import annotations

import pytest

from controlplane.fleet.observation import identity_of
from controlplane.gateway.known_servers import Admission, admission
from controlplane.gateway.product import MARIADB, MYSQL, Product


def test_what_the_engine_says_of_an_untested_server_is_kept() -> None:
    status = {"Fqc_untested_server": "MySQL 8.4.6", "Uptime": "1"}
    assert identity_of({"version": "8.4.6"}, status, 100).facts["untested_server"] == "MySQL 8.4.6"
    assert identity_of({"version": "9.7.4"}, {"Uptime": "1"}, 100).facts["untested_server"] == ""


@pytest.mark.parametrize(
    ("product", "version", "expected"),
    [
        (MARIADB, "10.11.19-MariaDB", Admission.TESTED),
        (MARIADB, "12.3.1-MariaDB", Admission.WARNS),
        (MYSQL, "9.7.4-2", Admission.TESTED),
        (MYSQL, "8.4.6", Admission.ON_REQUEST),
        (MYSQL, "8.0.36-28", Admission.ON_REQUEST),
        (MYSQL, "5.7.44-log", Admission.NEVER),
        (MYSQL, "5.6.51", Admission.NEVER),
    ],
)
def test_a_server_is_admitted_as_the_table_says(product: Product, version: str, expected: Admission) -> None:
    assert admission(product, version) is expected
