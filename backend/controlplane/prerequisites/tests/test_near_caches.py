"""What is said of near caches: on a real server, and of figures as it may have them."""

from __future__ import annotations

from typing import Any

import pytest

from controlplane.near_caches.commands import start_command
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.near_caches import cache_finding, near_findings
from testing.changes import changed
from testing.near import PlayedNear
from testing.workers import until


def near(**figures: Any) -> dict[str, Any]:
    return {"name": "shop", "hits": 0, "misses": 0, "writers_waited": 0, "waited_ms": 0.0, **figures}


@pytest.mark.parametrize(
    ("figures", "codes"),
    [
        ({}, []),
        ({"hits": 10, "misses": 900}, []),
        ({"hits": 99, "misses": 901}, ["near_rarely_hits"]),
        ({"hits": 100, "misses": 900}, []),
        ({"writers_waited": 10, "waited_ms": 100.0}, []),
        ({"writers_waited": 10, "waited_ms": 101.0}, ["near_writers_wait"]),
    ],
)
def test_figures_of_a_near_cache_are_judged(figures: dict[str, Any], codes: list[str]) -> None:
    found = near_findings([near(**figures)])
    assert [each.code for each in found] == ["near_attached", *codes]
    assert not any(each.is_blocking for each in found)


def test_where_none_is_attached_the_privilege_is_told() -> None:
    [found] = near_findings([])
    assert found.severity is Severity.ADVICE
    assert "REPLICATION MASTER ADMIN" in found.needed and found.remedy


def test_where_some_report_none_has_to_attach() -> None:
    [found] = near_findings([], reporting=2)
    assert (found.severity, found.seen, found.remedy) == (
        Severity.NOTICE, "near caches attached: 0, reporting: 2", ""
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "size", "is_on"), [("ON", 1024, True), ("DEMAND", 1024, True), ("ON", 0, False), ("OFF", 1, False)]
)
def test_the_servers_own_cache_must_be_on(kind: str, size: int, is_on: bool) -> None:
    assert cache_finding(kind, size).is_blocking is not is_on


def test_an_address_with_colons_is_put_in_brackets() -> None:
    assert "--server [::1]:3306 " in start_command("::1", 3306, "")


def codes(viewer: Any, instance: Any) -> dict[str, str]:
    answer = viewer.get(f"/api/v1/instances/{instance.pk}/near-caches/prerequisites").json()
    assert answer["is_ready"] is not any(each["severity"] == "blocking" for each in answer["findings"])
    return {each["code"]: each["severity"] for each in answer["findings"]}


@pytest.mark.django_db
def test_a_live_server_is_checked(viewer: Any, instance: Any, shared_server: Any) -> None:
    assert codes(viewer, instance) == {
        "minor_version": "notice",
        "near_server_cache": "blocking",
        "near_attached": "advice",
    }
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    connection = shared_server.connect()
    until(lambda: connection.status("Fqc_awake") == {"Fqc_awake": "1"}, "the engine is awake")
    connection.close()
    with PlayedNear(shared_server, "shop"):
        assert codes(viewer, instance) == {
            "minor_version": "notice", "near_server_cache": "notice", "near_attached": "notice"
        }  # fmt: skip


@pytest.mark.django_db
def test_the_statements_make_an_account_that_may_attach(viewer: Any, instance: Any, shared_server: Any) -> None:
    answer = viewer.get(f"/api/v1/instances/{instance.pk}/near-caches/prerequisites").json()
    connection = shared_server.connect()
    try:
        for statement in answer["statements"]:
            connection.run(statement.rstrip(";"))
        assert "ADMIN" in str(connection.rows("SHOW GRANTS FOR 'fqc_near'@'%'"))
    finally:
        connection.run("DROP USER IF EXISTS 'fqc_near'@'%'")
        connection.close()
