"""Findings about near caches: on a real server, and for made-up figures."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from controlplane.near_caches.commands import start_command
from controlplane.near_caches.ways import BOUNDED, EXACT, RULED
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.near_caches import cache_finding, log_findings, near_findings
from testing.changes import changed
from testing.near import FakeNearCache
from testing.servers import managed
from testing.workers import until

GROUP_LIBRARY = "group_replication.so"


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


def test_where_there_is_none_it_is_told_to_start_one() -> None:
    [found] = near_findings([])
    assert found.severity is Severity.ADVICE and "Start fqc-near" in found.remedy


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
    assert "--server [::1]:3306 " in start_command("::1", 3306, {})


def checked(viewer: Any, instance: Any) -> dict[str, Any]:
    answer: dict[str, Any] = viewer.get(f"/api/v1/instances/{instance.pk}/near-caches/prerequisites").json()
    for way in answer["ways"]:
        assert way["is_ready"] is not any(each["severity"] == "blocking" for each in way["findings"])
    assert answer["is_ready"] is any(way["is_ready"] for way in answer["ways"])
    return answer


def codes(findings: list[dict[str, Any]]) -> dict[str, str]:
    return {each["code"]: each["severity"] for each in findings}


def modes(answer: dict[str, Any]) -> list[str]:
    return [way["mode"] for way in answer["ways"]]


@pytest.mark.django_db
def test_a_live_server_with_the_engine_is_checked(viewer: Any, instance: Any, shared_server: Any) -> None:
    answer = checked(viewer, instance)
    assert modes(answer) == [EXACT] and codes(answer["findings"]) == {"near_attached": "advice"}
    assert codes(answer["ways"][0]["findings"]) == {"minor_version": "notice", "near_server_cache": "blocking"}
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "1"})
    connection = shared_server.connect()
    until(lambda: connection.status("Fqc_awake") == {"Fqc_awake": "1"}, "the engine is awake")
    connection.close()
    with FakeNearCache(shared_server, "shop"):
        answer = checked(viewer, instance)
        assert answer["is_ready"] and codes(answer["findings"]) == {"near_attached": "notice"}
        assert codes(answer["ways"][0]["findings"]) == {"minor_version": "notice", "near_server_cache": "notice"}


@pytest.mark.django_db
def test_a_server_that_cannot_be_reached_keeps_its_ways_and_none_is_ready(viewer: Any, instance: Any) -> None:
    type(instance).objects.filter(pk=instance.pk).update(port=1)
    answer = checked(viewer, instance)
    assert modes(answer) == [EXACT] and not answer["is_ready"]


@pytest.mark.django_db
def test_where_no_engine_loads_the_log_and_rules_are_the_ways(viewer: Any, older_mysql: Any) -> None:
    answer = checked(viewer, managed(older_mysql))
    if older_mysql.line == "5.7":
        assert modes(answer) == [RULED] and answer["is_ready"]
        return
    assert modes(answer) == [BOUNDED, RULED] and answer["is_ready"]
    [log] = answer["ways"][0]["findings"]
    assert (log["code"], log["severity"], "gtid_mode = OFF" in log["seen"]) == ("near_log", "blocking", True)
    assert log["action"]["statements"][0] == "[mysqld]"
    assert "MASTER ADMIN" not in str(answer)


@pytest.mark.django_db
def test_where_no_engine_loads_rules_are_made_for_the_tables_that_are_read_mostly(
    viewer: Any, older_mysql: Any
) -> None:
    owner = older_mysql.connect()
    owner.run("CREATE DATABASE near_rules")
    try:
        owner.run("CREATE TABLE near_rules.stock (id INT PRIMARY KEY)")
        owner.run(f"INSERT INTO near_rules.stock VALUES {', '.join(f'({number})' for number in range(40))}")
        for _ in range(40):
            owner.run("SELECT COUNT(*) FROM near_rules.stock WHERE id + 1 > 0")
        [rules] = [way["file_lines"] for way in checked(viewer, managed(older_mysql))["ways"] if way["mode"] == RULED]
    finally:
        owner.run("DROP DATABASE near_rules")
        owner.close()
    assert rules[:3] == [
        "# These tables are read often and written rarely.", "[[rule]]", 'table = "near_rules.stock"'
    ]  # fmt: skip


@pytest.mark.django_db
def test_on_mysql_that_takes_the_engine_a_near_cache_may_attach_to_it(viewer: Any, shared_mysql: Any) -> None:
    answer = checked(viewer, managed(shared_mysql))
    assert modes(answer) == [EXACT, BOUNDED, RULED]
    assert "GRANT REPLICATION SLAVE ON" in str(answer["ways"][0])


@pytest.mark.django_db
def test_on_a_member_of_a_replication_group_exact_mode_is_not_offered(viewer: Any, shared_mysql: Any) -> None:
    root = Path(shared_mysql.program).resolve().parents[1]
    folders = (root / "root" / "usr" / "lib" / "mysql" / "plugin", root / "lib" / "mysql" / "plugin")
    library = next((path for path in (folder / GROUP_LIBRARY for folder in folders) if path.is_file()), None)
    # A server that FQC_MYSQLD names may come without the library. The fetched one has it.
    if not library:
        pytest.skip(f"this MySQL comes without {GROUP_LIBRARY}")
    shutil.copy(library, shared_mysql.folder / "plugins")
    owner = shared_mysql.connect()
    owner.run(f"INSTALL PLUGIN group_replication SONAME '{GROUP_LIBRARY}'")
    try:
        answer = checked(viewer, managed(shared_mysql))
    finally:
        owner.run("UNINSTALL PLUGIN group_replication")
        owner.close()
    assert modes(answer) == [BOUNDED, RULED]
    assert codes(answer["findings"])["near_exact_of_group"] == "notice"


def test_a_managed_service_is_told_of_its_parameter_group_and_not_of_an_option_file() -> None:
    unset = {"log_bin": "OFF", "binlog_format": "MIXED", "log_slave_updates": "ON"}
    facts = SimpleNamespace(product="MySQL", edition="Amazon RDS")
    [found] = log_findings(facts, unset)  # type: ignore[arg-type]
    assert "parameter group" in found.remedy and "option file" not in found.remedy
    assert found.action and not any(line.startswith("[") for line in found.action.statements)


@pytest.mark.parametrize(
    ("variables", "codes"),
    [({"wsrep_on": "ON"}, ["near_log_of_cluster"]), ({"query_cache_type": "ON"}, ["near_log", "near_log_cache"])],
)
def test_what_keeps_the_log_from_being_followed_is_told(variables: dict[str, str], codes: list[str]) -> None:
    facts = SimpleNamespace(product="MariaDB", edition="")
    assert [each.code for each in log_findings(facts, variables)] == codes  # type: ignore[arg-type]
