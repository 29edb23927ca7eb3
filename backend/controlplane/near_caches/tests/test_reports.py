"""Near caches that report themselves: listed, counted and missed like those that a server lists, and let in nowhere."""

from __future__ import annotations

import time
from typing import Any

import pytest
from rest_framework.test import APIClient

from controlplane.accounts.models import Token, User
from controlplane.audit.models import AuditEvent
from controlplane.core.request_context import acting_as
from controlplane.fleet.kept_connections import Connections
from controlplane.fleet.services import instance_forget
from controlplane.gateway.product import MYSQL
from controlplane.metrics import polling
from controlplane.metrics.definitions import METRICS
from controlplane.metrics.models import Latest
from controlplane.metrics.tests.fleet import instance_make
from controlplane.near_caches import reports, views
from controlplane.near_caches.models import NearCache
from testing.clients import client_as, reporter_of
from testing.near import REPORT
from testing.servers import MySQL57, MySQL80, TestServer, managed, server_of_line

pytestmark = pytest.mark.django_db
REPORTS = "/api/v1/near-caches/reports"
HOUR = 3600


@pytest.fixture
def instance(shared_server: Any) -> Any:
    return instance_make(port=shared_server.port, username=shared_server.username, password=shared_server.password)


@pytest.fixture
def reporter(instance: Any) -> APIClient:
    return reporter_of(instance.pk)


def report(reporter: APIClient, **facts: Any) -> int:
    """Sends a near cache's report, with `facts` overriding its fields, and returns the status of the answer."""
    return int(reporter.post(REPORTS, {**REPORT, **facts}).status_code)


def polled(seconds: int = 0) -> None:
    """Runs a round of polls, with a clock that is so many seconds ahead."""
    connections = Connections()
    polling.poll_round(int(time.time()) + seconds, connections)
    connections.keep_only(())


def listed(viewer: APIClient, instance: Any) -> list[dict[str, Any]]:
    answer = viewer.get(f"/api/v1/instances/{instance.name}/near-caches")
    assert answer.status_code == 200, answer.content
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def states(viewer: APIClient, instance: Any) -> list[str]:
    return [each["state"] for each in listed(viewer, instance)]


def metric(instance: Any, name: str) -> float | None:
    return METRICS[name].value(Latest.objects.get(instance=instance).growth)


def tokens_of(instance: Any) -> str:
    return f"/api/v1/instances/{instance.name}/near-caches/tokens"


def test_one_that_observes_is_listed_with_what_it_would_do_and_changes_no_ratio(
    reporter: APIClient, viewer: APIClient, instance: Any
) -> None:
    told = {"obstacle": "it only observes", "hits": 0, "observed_different": 1, "observed_saved_ms": 250}
    polled()
    for observed, misses in ((0, 0), (80, 20)):
        assert report(reporter, **told, observed_hits=observed, misses=misses) == 200
    [near] = listed(viewer, instance)
    assert (near["state"], near["observed_hits"], near["observed_different"]) == ("waiting", 80, 1)
    polled(60)
    assert metric(instance, "near_hit_ratio") is None


def test_a_program_that_cannot_observe_reports_as_before(reporter: APIClient, viewer: APIClient, instance: Any) -> None:
    old = {name: value for name, value in REPORT.items() if not name.startswith("observed_")}
    assert reporter.post(REPORTS, old).status_code == 200
    assert [near["observed_hits"] for near in listed(viewer, instance)] == [None]


def test_it_is_listed_with_what_it_says(reporter: APIClient, viewer: APIClient, instance: Any) -> None:
    answer = reporter.post(REPORTS, REPORT)
    assert (answer.status_code, answer.json()) == (200, {"next_seconds": 15})
    [near] = listed(viewer, instance)
    assert {name: near[name] for name in REPORT if name in near} == {
        name: value for name, value in REPORT.items() if name in near
    }
    told = (near["source"], near["state"], near["address"], near["attachment"])
    assert told == ("reporting", "serving", "127.0.0.1", REPORT["life"])


def test_one_with_something_in_its_way_is_waiting(reporter: APIClient, viewer: APIClient, instance: Any) -> None:
    report(reporter, obstacle="error 1045: access denied")
    [near] = listed(viewer, instance)
    assert (near["state"], near["obstacle"]) == ("waiting", "error 1045: access denied")


def test_by_rules_one_whose_server_does_not_respond_serves_only_if_it_answers_reads(
    reporter: APIClient, viewer: APIClient, instance: Any
) -> None:
    report(reporter, mode="rules")
    type(instance).objects.filter(pk=instance.pk).update(state="unreachable")
    [near] = listed(viewer, instance)
    assert (near["state"], near["obstacle"]) == ("waiting", "its server does not respond")
    NearCache.objects.update(hits_per_second=5)
    [near] = listed(viewer, instance)
    assert (near["state"], near["obstacle"]) == ("serving", "")


def test_what_two_answer_is_in_the_samples_of_their_instance_once(reporter: APIClient, instance: Any) -> None:
    report(reporter)
    report(reporter, name="shop-2")
    polled()
    report(reporter, hits=90, misses=30)
    report(reporter, name="shop-2", hits=30, misses=30)
    polled(15)
    assert (metric(instance, "near_hit_ratio"), metric(instance, "near_caches")) == (60, 2)
    growth = Latest.objects.get(instance=instance).growth
    assert (growth["near_hits"], growth["near_misses"]) == (60, 40)
    polled(30)
    assert Latest.objects.get(instance=instance).growth["near_hits"] == 0


def test_reads_that_a_server_does_not_count_are_those_that_near_caches_passed_on(
    reporter: APIClient, instance: Any
) -> None:
    """The server's cache is off and counts no reads, so misses of near caches count as reads; otherwise all reads would
    seem to come from near caches.
    """
    report(reporter)
    polled()
    report(reporter, hits=60, misses=20)
    polled(15)
    assert metric(instance, "select_hit_ratio") == 75


def test_whoever_is_silent_for_three_rounds_is_missed_for_an_hour(
    reporter: APIClient, viewer: APIClient, instance: Any
) -> None:
    report(reporter)
    polled(44)
    assert (states(viewer, instance), metric(instance, "near_caches_detached")) == (["serving"], 0)
    polled(47)
    assert (states(viewer, instance), metric(instance, "near_caches_detached")) == (["detached"], 1)
    assert metric(instance, "near_caches") == 0
    polled(HOUR + 1)
    assert (states(viewer, instance), metric(instance, "near_caches_detached")) == (["detached"], 0)


def test_whoever_comes_back_by_the_same_name_is_listed_once(
    reporter: APIClient, viewer: APIClient, instance: Any
) -> None:
    report(reporter)
    polled(47)
    report(reporter, life=4712, hits=0, misses=0)
    polled()
    assert (states(viewer, instance), metric(instance, "near_caches_detached")) == (["serving"], 0)


def test_whoever_says_that_it_stops_is_not_missed_and_its_last_reads_count(
    reporter: APIClient, viewer: APIClient, instance: Any
) -> None:
    report(reporter)
    polled()
    report(reporter, hits=50, is_leaving=True)
    polled(15)
    assert states(viewer, instance) == ["detached"]
    assert [metric(instance, name) for name in ("near_caches", "near_caches_detached")] == [0, 0]
    assert Latest.objects.get(instance=instance).growth["near_hits"] == 20


def test_the_token_is_shown_once_kept_as_a_hash_and_on_record(operator: APIClient, instance: Any) -> None:
    answer = operator.post(tokens_of(instance), {"name": "shop hosts"})
    made = answer.json()
    assert (answer.status_code, made["scope"], made["instance_id"]) == (201, "reporter", instance.pk)
    assert f"--server {instance.host}:{instance.port} " in made["command"]
    secret = made["token"].split("_", 2)[2]
    assert secret not in str(Token.objects.values()) + str(AuditEvent.objects.values())
    assert AuditEvent.objects.get(action="token.created", target_id=made["id"]).after["instance_id"] == instance.pk
    [shown] = [each for each in operator.get("/api/v1/tokens").json()["items"] if each["id"] == made["id"]]
    assert shown == {name: value for name, value in made.items() if name not in ("token", "command")}


def test_a_reporter_is_made_where_its_instance_is_and_nowhere_else(admin: APIClient, instance: Any) -> None:
    answer = admin.post("/api/v1/tokens", {"name": "t", "scope": "reporter"})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "scope")


def test_a_report_is_of_the_tokens_instance(reporter: APIClient, viewer: APIClient, instance: Any) -> None:
    another = instance_make()
    assert report(reporter) == 200
    assert (len(listed(viewer, instance)), listed(viewer, another)) == (1, [])
    assert report(reporter, instance_id=another.pk) == 400


def revoke(token: Token, instance: Any) -> None:
    assert client_as("admin").delete(f"/api/v1/tokens/{token.pk}").status_code == 204


def delete_instance(token: Token, instance: Any) -> None:
    with acting_as("test"):
        instance_forget(instance)


def demote(token: Token, instance: Any) -> None:
    User.objects.filter(pk=token.user_id).update(role="viewer")


def disable(token: Token, instance: Any) -> None:
    User.objects.filter(pk=token.user_id).update(is_active=False)


@pytest.mark.parametrize(("end", "status"), [(revoke, 401), (delete_instance, 401), (demote, 403), (disable, 401)])
def test_a_reporter_ends(end: Any, status: int, reporter: APIClient, instance: Any) -> None:
    assert report(reporter) == 200
    end(Token.objects.get(instance_id=instance.pk), instance)
    assert report(reporter) == status


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "'quoted'"}, {"name": "x" * 65}, {"name": "of two words"}, {"life": 0}, {"life": 2**53},
        {"mode": "exact"},
        {"hits": -1}, {"hits": 2**53}, {"misses": 1.5}, {"staleness_ms": -1}, {"staleness_ms": 1e300},
        {"obstacle": "x" * 501}, {"server": ""}, {"version": "x" * 33}, {"is_leaving": None}, {"colour": "red"},
    ],
)  # fmt: skip
def test_what_is_no_report_is_refused_and_named(reporter: APIClient, wrong: dict[str, Any]) -> None:
    answer = reporter.post(REPORTS, {**REPORT, **wrong})
    assert (answer.status_code, {each["field"] for each in answer.json()["errors"]}) == (400, set(wrong))
    assert not NearCache.objects.exists()


def test_what_no_program_answers_is_not_counted(reporter: APIClient, instance: Any) -> None:
    report(reporter)
    report(reporter, hits=2**53 - 1)
    near = NearCache.objects.get()
    seconds = (near.seen_at - near.attached_at).total_seconds()
    assert 0 < near.unsampled_hits <= seconds * reports.MOST_PER_SECOND


def test_those_that_are_gone_make_room_and_beyond_that_nobody_is_noted(
    reporter: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "MOST_ROWS", 2)
    assert [report(reporter, name=name) for name in ("a", "b", "c")] == [200, 200, 409]
    report(reporter, name="a", is_leaving=True)
    assert report(reporter, name="c") == 200
    assert set(NearCache.objects.values_list("name", flat=True)) == {"b", "c"}


def test_reports_of_one_token_are_limited(reporter: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views.ReportThrottle, "rate", "0/min", raising=False)
    answer = reporter.post(REPORTS, REPORT)
    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")


def test_attached_ones_are_not_touched_by_a_report_of_the_same_name_and_number(
    reporter: APIClient, instance: Any
) -> None:
    numbers = {"attachment": REPORT["life"], "entries": 1, "stored_bytes": 1, "hits": 1, "misses": 1}
    now = Token.objects.get(instance_id=instance.pk).created_at
    NearCache.objects.create(instance=instance, name=REPORT["name"], attached_at=now, seen_at=now, **numbers)
    assert report(reporter) == 200
    assert NearCache.objects.get(source="attached").hits == 1


# The build of MySQL 5.7 that tests have makes no certificate for itself.
@pytest.mark.parametrize(
    ("kind", "lines", "offers_tls"),
    [
        pytest.param(MySQL57, (), False, id="5.7"),
        pytest.param(MySQL80, (), True, id="8.0"),
        pytest.param(MySQL80, ("skip_ssl",), False, id="8.0 without TLS"),
    ],
)
def test_the_command_of_a_token_has_tls_only_if_the_server_offers_it(
    operator: APIClient, kind: type[TestServer], lines: tuple[str, ...], offers_tls: bool
) -> None:
    with server_of_line(kind, MYSQL, lines) as server:
        path = tokens_of(managed(server))
        made = operator.post(path, {"name": "shop"}).json()
    assert ("--server-tls" in made["command"]) is offers_tls
    # A server that does not answer is assumed to be as it is made.
    assert "--server-tls" in operator.post(path, {"name": "another"}).json()["command"]
