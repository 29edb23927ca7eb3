"""Upgrades of the engine on many instances, in waves: real servers, and the gates that stop an upgrade."""

import re
from datetime import timedelta

import pymysql
import pytest
from django.utils import timezone

from controlplane.alerts.models import Incident
from controlplane.fleet.kept_connections import Connections
from controlplane.fleet.models import Instance
from controlplane.metrics.polling import poll_round
from controlplane.rollouts import execution, latency, subjects
from controlplane.rollouts.models import FleetApply
from testing.libraries import OLDER
from testing.servers import row_for
from testing.workers import until

pytestmark = pytest.mark.django_db
PATH = "/api/v1/fleet-applies"


@pytest.fixture(autouse=True)
def delivered(monkeypatch):
    """Returns the list of item ids that are sent to workers during the test, in order; the test runs them itself."""
    queue = []
    monkeypatch.setattr(execution, "deliver_item", lambda pk: queue.append(pk))
    monkeypatch.setattr(execution.transaction, "on_commit", lambda send: send())
    return queue


@pytest.fixture
def bare(own_server):
    """Returns two servers without the engine, each with its instance, in the order in which a fleet apply
    takes them.
    """
    return [
        (server, row_for(server, name=name)) for server, name in ((own_server(), "a-first"), (own_server(), "b-second"))
    ]


def asked(**facts):
    return {"kind": "upgrade", "every": True, "parallelism": 1, "settle_seconds": 0, "start": True, **facts}


def begun(operator, delivered, **facts):
    """Starts an upgrade of all instances, with `facts` in the request, and returns the fleet apply after its first
    wave.
    """
    answer = operator.post(PATH, asked(**facts))
    assert answer.status_code == 201, answer.json()
    move(answer.json()["id"], delivered)
    return FleetApply.objects.get(pk=answer.json()["id"])


def move(row, delivered):
    """Moves the fleet apply with the id `row` on, as the sweep does, and runs the items that it sends to workers."""
    execution.advance(row)
    while delivered:
        execution.run_items(delivered.pop(0))


def polled(at=None):
    connections = Connections()
    poll_round(int((at or timezone.now()).timestamp()), connections)
    connections.keep_only(())


def states(row):
    row.refresh_from_db()
    return row.state, [(item.state, item.detail) for item in row.items.all()]


def version_of(server):
    connection = server.connect()
    try:
        return connection.variable("fqc_minor_version")
    finally:
        connection.close()


def test_each_wave_is_watched_and_polled_before_the_next_one_begins(operator, bare, delivered):
    row = begun(operator, delivered)
    assert states(row) == ("running", [("applied", ""), ("pending", "")])
    assert (version_of(bare[0][0]), version_of(bare[1][0])) == (str(row.minor_version), None)
    move(row.pk, delivered)
    assert states(row)[1][1] == ("pending", ""), "nobody has heard of the first since"

    FleetApply.objects.filter(pk=row.pk).update(settle_seconds=3600)
    polled()
    move(row.pk, delivered)
    assert states(row)[1][1] == ("pending", ""), "it is still watched"

    FleetApply.objects.filter(pk=row.pk).update(settle_seconds=0)
    move(row.pk, delivered)
    assert states(row) == ("running", [("applied", ""), ("applied", "")]), "the last wave is watched, too"
    polled()
    move(row.pk, delivered)
    assert states(row) == ("done", [("applied", ""), ("applied", "")])
    assert version_of(bare[1][0]) == str(row.minor_version)
    shown = operator.get(f"{PATH}/{row.pk}/items").json()["items"]
    assert all(item["passed_at"] for item in shown)
    assert operator.post(f"{PATH}/{row.pk}/rollback").json()["code"] == "nothing_to_restore"

    again = begun(operator, delivered)
    assert states(again) == ("done", [("unchanged", ""), ("unchanged", "")]), "they run it already"


def test_an_open_critical_incident_on_an_instance_of_the_wave_stops_it(operator, bare, delivered):
    row = begun(operator, delivered)
    facts = {"rule_name": "Errors", "metric": "contained_errors", "comparison": ">", "threshold": 0}
    facts |= {"opened_at": timezone.now(), "instance_name": "a-first"}
    warning = Incident.objects.create(instance=bare[0][1], severity="warning", **facts)
    move(row.pk, delivered)
    assert states(row)[0] == "running"
    Incident.objects.filter(pk=warning.pk).update(severity="critical")
    move(row.pk, delivered)
    stopped = [("failed", "a critical incident is open: Errors"), ("skipped", "stopped after failures")]
    assert states(row) == ("stopped", stopped)
    assert version_of(bare[1][0]) is None


def plant(server, old, new):
    """Replaces bytes in a table's file, so that the server's answer changes without the engine's knowledge, as after a
    bug of the engine.
    """
    file = server.folder / "data" / "shop" / "t.MYD"
    assert old in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(old, new))


def test_a_difference_that_verify_mode_found_stops_it(operator, bare, delivered):
    server = bare[0][0]
    row = begun(operator, delivered)
    with server.as_owner() as owner, owner.cursor() as cursor:
        for statement in (
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (id INT, v CHAR(8)) ENGINE=MyISAM ROW_FORMAT=FIXED CHARACTER SET latin1",
            "INSERT INTO shop.t VALUES (1, 'original')",
            "SET GLOBAL query_cache_size = 16777216",
            "SET GLOBAL query_cache_type = 1",
            "SET GLOBAL fqc_verify_ppm = 1000000",
        ):
            cursor.execute(statement)
    facts = {"host": server.host, "port": server.port, "user": "tester", "password": "may-do-everything"}
    with pymysql.connect(**facts, autocommit=True) as client:

        def counted(name):
            with client.cursor() as cursor:
                cursor.execute("SELECT v FROM shop.t WHERE id = 1")
                cursor.fetchall()
                cursor.execute(f"SHOW GLOBAL STATUS LIKE '{name}'")
                return int(cursor.fetchone()[1])

        until(lambda: counted("Fqc_verified"), "a stored result is compared", seconds=120)
        polled()
        assert states(row)[0] == "running"
        plant(server, b"original", b"modified")
        until(lambda: counted("Fqc_differences"), "the difference is counted", seconds=120)
    polled()
    move(row.pk, delivered)
    assert states(row)[0] == "stopped"
    assert states(row)[1][0] == ("failed", "1 results differed from the server's answer (Fqc_differences)")
    assert version_of(bare[1][0]) is None


def test_an_instance_that_does_not_run_the_new_version_stops_it(operator, bare, delivered, monkeypatch):
    monkeypatch.setattr(subjects, "library_minor_version", lambda library: 20991231)
    row = begun(operator, delivered)
    found = Instance.objects.get(pk=bare[0][1].pk).minor_version
    told = f"it runs the engine's minor version {found}, not 20991231"
    assert states(row) == ("stopped", [("failed", told), ("skipped", "stopped after failures")])


def test_an_instance_that_answers_no_poll_stops_it(operator, bare, delivered):
    row = begun(operator, delivered)
    row.items.filter(state="applied").update(finished_at=timezone.now() - timedelta(days=1))
    move(row.pk, delivered)
    assert states(row)[1][0] == ("failed", "it has not answered a poll since")


@pytest.fixture
def served(own_server):
    """Returns a server with an engine.

    Its instance is stored with an older version of the engine, so that it is upgraded.
    """
    server = own_server(has_engine=True)
    instance = row_for(server, name="a-first")
    Instance.objects.filter(pk=instance.pk).update(minor_version=OLDER)
    return server


def asks(server, statement, times):
    """Switches the server's cache on, and repeats a statement from an application's session until the engine has
    counted `times` more answers.
    """
    with server.as_owner() as owner, owner.cursor() as cursor:
        cursor.execute("SET GLOBAL query_cache_size = 16777216")
        cursor.execute("SET GLOBAL query_cache_type = 1")
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Fqc_answered'")
        before = int(cursor.fetchone()[1])
        facts = {"host": server.host, "port": server.port, "user": "tester", "password": "may-do-everything"}
        with pymysql.connect(**facts, autocommit=True) as client, client.cursor() as own:

            def has_asked():
                own.execute(statement)
                cursor.execute("SHOW GLOBAL STATUS LIKE 'Fqc_answered'")
                return int(cursor.fetchone()[1]) >= before + times

            until(has_asked, "statements are timed", seconds=300)


@pytest.mark.parametrize(("allowed", "is_stopped"), [(150, True), (100_000, False)])
def test_statements_that_take_longer_after_it_stop_it(operator, served, delivered, monkeypatch, allowed, is_stopped):
    monkeypatch.setattr(latency, "LEAST_STATEMENTS", 40)
    polled()
    asks(served, "DO SLEEP(0.005)", 100)
    polled()
    row = begun(operator, delivered, max_p95_percent=allowed, settle_seconds=1, allow_restart=True)
    asks(served, "DO SLEEP(0.5)", 45)
    watched_until = row.items.get().finished_at + timedelta(seconds=1)
    until(lambda: timezone.now() > watched_until, "it was watched")
    polled(at=watched_until)
    move(row.pk, delivered)
    state, [(item_state, detail)] = states(row)
    assert (state, item_state) == (("stopped", "failed") if is_stopped else ("done", "applied"))
    told = re.fullmatch(r"95 % of its statements take up to .* ms, before .* ms: \d+ %, allowed 150 %", detail)
    assert bool(told) == is_stopped, detail
    [item] = operator.get(f"{PATH}/{row.pk}/items").json()["items"]
    assert item["p95_after_ms"] >= 500 and item["p95_before_ms"] < item["p95_after_ms"] / 2


def test_too_few_statements_are_not_judged_by_how_long_they_take(operator, served, delivered):
    polled()
    asks(served, "DO 1", 100)
    polled()
    row = begun(operator, delivered, max_p95_percent=100, settle_seconds=1, allow_restart=True)
    watched_until = row.items.get().finished_at + timedelta(seconds=1)
    until(lambda: timezone.now() > watched_until, "it was watched")
    polled(at=watched_until)
    move(row.pk, delivered)
    assert states(row) == ("done", [("applied", "")])
    [item] = operator.get(f"{PATH}/{row.pk}/items").json()["items"]
    assert (item["p95_before_ms"], item["p95_after_ms"]) == (None, None)


def test_only_an_upgrade_that_is_watched_can_go_by_how_long_statements_take(operator, instance):
    of_parameters = {"template": "slow-log", "every": True, "max_p95_percent": 150}
    for wrong in (asked(max_p95_percent=150), asked(max_p95_percent=99, settle_seconds=60), of_parameters):
        refused = operator.post(PATH, wrong)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "max_p95_percent")


def test_the_library_that_was_previewed_is_the_one_that_is_installed(operator, bare, delivered, settings, tmp_path):
    answer = operator.post(PATH, asked(start=False))
    changed = tmp_path / "fqc.so"
    changed.write_bytes(settings.ENGINE_LIBRARY.read_bytes() + b"\0")
    settings.ENGINE_LIBRARY = changed
    operator.post(f"{PATH}/{answer.json()['id']}/start")
    move(answer.json()["id"], delivered)
    row = FleetApply.objects.get()
    assert states(row)[0] == "stopped" and "was replaced since the preview" in states(row)[1][0][1]
    assert version_of(bare[0][0]) is None


def test_the_way_back_is_the_older_library_by_the_same_command(operator, bare, delivered, settings, older_library):
    both = {"parallelism": 2}
    forth = begun(operator, delivered, **both)
    polled()
    move(forth.pk, delivered)
    assert states(forth)[0] == "done"
    settings.ENGINE_LIBRARY = older_library
    refused = begun(operator, delivered, **both)
    told = "a restart loads the new engine; needed: allow_restart"
    assert states(refused) == ("done", [("blocked", told)] * 2)
    back = begun(operator, delivered, allow_restart=True, **both)
    polled()
    move(back.pk, delivered)
    assert states(back) == ("done", [("applied", ""), ("applied", "")])
    assert {version_of(server) for server, _ in bare} == {str(OLDER)}
    assert set(Instance.objects.values_list("minor_version", flat=True)) == {OLDER}


def test_what_is_in_the_way_is_told_by_the_preview(viewer, operator, instance, delivered):
    """Each instance of a preview has the reasons why it cannot be upgraded.

    The shared server has the engine, so another version of it needs a restart.
    """
    Instance.objects.filter(pk=instance.pk).update(minor_version=20200331)
    for name, facts in {"elsewhere": {"provider": "external"}, "down": {"state": "unreachable"}}.items():
        row = Instance(
            name=name, host="127.0.0.1", port=1, username="x", **{"provider": "local", "state": "running", **facts}
        )
        row.instance_class, row.password = instance.instance_class, "x"
        row.save()
    facts = {
        "rule_name": "Errors",
        "metric": "contained_errors",
        "comparison": ">",
        "threshold": 0,
        "severity": "critical",
    }
    Incident.objects.create(instance=row, instance_name="down", opened_at=timezone.now(), **facts)
    asked_for = {"kind": "upgrade", "every": True}
    shown = viewer.post(f"{PATH}/preview", asked_for).json()
    assert (shown["kind"], shown["template_name"]) == ("upgrade", "") and shown["minor_version"] >= 20200331
    blocking = {item["instance_name"]: item["blocking"] for item in shown["items"]}
    assert blocking[instance.name] == ["a restart loads the new engine; needed: allow_restart"]
    assert "not run by this control plane" in blocking["elsewhere"][0]
    assert blocking["down"][-2:] == [
        "it is unreachable; needed: running",
        "a critical incident is open: Errors; needed: none",
    ]
    allowed = viewer.post(f"{PATH}/preview", {**asked_for, "allow_restart": True}).json()["items"]
    assert [item["blocking"] for item in allowed if item["instance_name"] == instance.name] == [[]]


def test_an_upgrade_takes_no_template_and_all_else_takes_one(operator, instance):
    refused = operator.post(PATH, {"kind": "upgrade", "template": "slow-log", "every": True})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "template")
    refused = operator.post(PATH, {"every": True})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "template")


def test_without_a_library_there_is_nothing_to_upgrade_to(operator, instance, settings, tmp_path):
    settings.ENGINE_LIBRARY = tmp_path / "none.so"
    assert operator.post(PATH, asked()).json()["code"] == "no_library"
