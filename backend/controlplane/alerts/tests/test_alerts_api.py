"""Rules, incidents and silences over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.alerts.models import AlertRule, Incident, Silence
from controlplane.audit.models import AuditEvent
from controlplane.gateway.tests.smtp import smtp_server
from controlplane.metrics.models import MinuteRollup
from controlplane.metrics.partitions import partitions_ensure
from controlplane.metrics.tests.fleet import instance_make
from controlplane.settings.selectors import settings_get

pytestmark = pytest.mark.django_db
RULE = {"name": "busy", "metric": "questions_per_second", "comparison": "gt", "threshold": 100, "for_seconds": 60}


def make(client: APIClient, **fields: Any) -> dict[str, Any]:
    answer = client.post("/api/v1/alert-rules", {**RULE, **fields})
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_a_rule_lives(operator: APIClient) -> None:
    instance = instance_make()
    rule = make(operator, overrides=[{"instance_id": instance.pk, "threshold": 500}])
    path = f"/api/v1/alert-rules/{rule['id']}"
    read = operator.get(path)
    assert read.json() == rule
    assert rule["overrides"] == [{"instance_id": instance.pk, "threshold": 500.0, "is_exempt": False}]
    changed = operator.put(path, {**RULE, "threshold": 200}, headers={"If-Match": read["ETag"]})
    assert (changed.json()["threshold"], changed.json()["version"], changed.json()["overrides"]) == (200.0, 2, [])
    assert operator.delete(path, headers={"If-Match": read["ETag"]}).status_code == 412
    assert operator.delete(path, headers={"If-Match": changed["ETag"]}).status_code == 204
    actions = list(
        AuditEvent.objects.filter(target_id=rule["id"]).order_by("created_at").values_list("action", flat=True)
    )
    assert actions == ["alert_rule.created", "alert_rule.updated", "alert_rule.deleted"]


def test_a_write_without_if_match_is_refused(operator: APIClient) -> None:
    rule = make(operator)
    assert operator.put(f"/api/v1/alert-rules/{rule['id']}", RULE).status_code == 428


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"metric": "nonsense"}, "metric"),
        ({"comparison": "eq"}, "comparison"),
        ({"threshold": "many"}, "threshold"),
        ({"threshold": True}, "threshold"),
        ({"threshold": "Infinity"}, "threshold"),
        ({"for_seconds": -1}, "for_seconds"),
        ({"scope": "tags"}, "tags"),
        ({"scope": "instance"}, "instance_id"),
        ({"scope": "instance", "instance_id": "rm-none"}, "instance_id"),
        ({"recipients": ["nobody"]}, "recipients.0"),
        ({"overrides": [{"instance_id": "rm-none"}]}, "overrides"),
        ({"tags": {"a__b": "c"}, "scope": "tags"}, "tags"),
    ],
)
def test_bad_rules_name_the_field(operator: APIClient, fields: dict[str, Any], field: str) -> None:
    answer = operator.post("/api/v1/alert-rules", {**RULE, **fields})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)


def test_a_name_is_taken_once(operator: APIClient) -> None:
    make(operator)
    answer = operator.post("/api/v1/alert-rules", RULE)
    assert (answer.status_code, answer.json()["code"]) == (409, "name_taken")


def test_low_hit_ratio_ships_enabled(viewer: APIClient) -> None:
    [rule] = [it for it in viewer.get("/api/v1/alert-rules").json()["items"] if it["name"] == "low hit ratio"]
    assert (rule["name"], rule["threshold"], rule["for_seconds"], rule["minimum_traffic"], rule["is_enabled"]) == (
        "low hit ratio", 50.0, 600, 1.0, True,
    )  # fmt: skip
    assert "lookups" in rule["formula"]


def test_rules_for_states_ship_enabled(viewer: APIClient) -> None:
    rules = {it["metric"]: it for it in viewer.get("/api/v1/alert-rules").json()["items"]}
    shipped = {
        "unreachable",
        "engine_lost",
        "drifted_parameters",
        "change_failed",
        "answers_unusable",
        "samples_missing",
        "prune_ratio",
        "near_caches_detached",
    }
    assert {name for name in shipped if rules[name]["is_enabled"]} == shipped


def test_a_preview_of_a_state_says_what_holds_now(viewer: APIClient) -> None:
    instance_make(name="up")
    instance_make(name="down", state="unreachable")
    rule = {**RULE, "metric": "unreachable", "threshold": 0}
    found = viewer.post("/api/v1/alert-rules/preview", rule).json()
    assert (found["hours"], [each["instance_name"] for each in found["firings"]]) == (0, ["down"])


def test_roles(outsider: APIClient, viewer: APIClient, operator: APIClient) -> None:
    rule = AlertRule.objects.get(name="low hit ratio")
    for path in ("alert-rules", "incidents", "silences", f"alert-rules/{rule.pk}"):
        assert outsider.get(f"/api/v1/{path}").status_code == 401, path
        assert viewer.get(f"/api/v1/{path}").status_code == 200, path
    assert viewer.post("/api/v1/alert-rules", RULE).status_code == 403
    assert viewer.post("/api/v1/silences", {"reason": "x", "duration_seconds": 60}).status_code == 403
    assert viewer.post("/api/v1/alert-rules/preview", RULE).status_code == 200
    assert operator.post("/api/v1/alerts/test-mail", {"to": "a@example.com"}).status_code == 403


def test_preview_finds_where_it_would_have_fired(viewer: APIClient) -> None:
    instance = instance_make(name="shop-1")
    first = int(timezone.now().timestamp()) // 60 * 60 - 3600
    partitions_ensure(MinuteRollup, first, first + 3600)
    MinuteRollup.objects.bulk_create(
        MinuteRollup(instance_id=instance.pk, at=first + 60 * n, seconds=60, questions=9000 if 10 <= n < 30 else 60)
        for n in range(50)
    )
    found = viewer.post("/api/v1/alert-rules/preview", {**RULE, "for_seconds": 300}).json()
    [firing] = found["firings"]
    assert (found["instance_count"], firing["instance_name"], firing["opened_value"]) == (1, "shop-1", 150.0)
    opened, resolved = (
        timezone.datetime.fromisoformat(firing[name]).timestamp() for name in ("opened_at", "resolved_at")
    )
    assert (opened - first, resolved - opened) == (11 * 60 + 300, 20 * 60)
    exempt = {**RULE, "overrides": [{"instance_id": instance.pk, "is_exempt": True}]}
    assert viewer.post("/api/v1/alert-rules/preview", exempt).json()["firings"] == []
    assert not AlertRule.objects.filter(name=RULE["name"]).exists()


def incident_make(**facts: Any) -> Incident:
    return Incident.objects.create(
        **{
            "rule_name": "busy", "instance_name": "shop-1", "metric": "hit_ratio", "comparison": "lt", "threshold": 50,
            "severity": "warning", "opened_at": timezone.now(), **facts,
        }
    )  # fmt: skip


def test_incidents_are_acknowledged_once(operator: APIClient) -> None:
    incident = incident_make()
    path = f"/api/v1/incidents/{incident.pk}"
    done = operator.post(f"{path}/acknowledge")
    assert done.json()["acknowledged_by"] == operator.user.username  # type: ignore[attr-defined]
    assert [event["kind"] for event in done.json()["timeline"]] == ["acknowledged"]
    assert operator.post(f"{path}/acknowledge").json()["code"] == "acknowledged_already"


def test_open_incidents_are_counted_for_prometheus(viewer: APIClient) -> None:
    incident_make(severity="critical")
    incident_make(severity="critical", resolved_at=timezone.now())
    assert 'fqc_open_incidents{severity="critical"} 1.0' in viewer.get("/metrics").content.decode()


def test_what_there_is_none_of_is_told_to_prometheus_as_zero(viewer: APIClient) -> None:
    """The metrics have a value of 0 where there are no rows: an alert on their growth only works if Prometheus had a
    value before the first row.
    """
    told = viewer.get("/metrics").content.decode()
    for each in ('open_incidents{severity="warning"}', 'mails{state="failed"}', 'notifications{state="failed"}'):
        assert f"fqc_{each} 0.0" in told


def test_open_incidents_are_told_apart(viewer: APIClient) -> None:
    opened, resolved = incident_make(), incident_make(resolved_at=timezone.now())
    listed = {
        value: [each["id"] for each in viewer.get("/api/v1/incidents", {"is_open": value}).json()["items"]]
        for value in ("true", "false")
    }
    assert listed == {"true": [opened.pk], "false": [resolved.pk]}


@pytest.mark.parametrize("path", ["alert-rules", "incidents", "silences", "templates"])
def test_lists_come_page_by_page(operator: APIClient, path: str) -> None:
    for number in range(3):
        make(operator, name=f"rule {number}")
        incident_make()
        operator.post("/api/v1/silences", {"reason": "x", "duration_seconds": 60})
    whole = [each["id"] for each in operator.get(f"/api/v1/{path}").json()["items"]]
    pages, query = [], {"limit": 1}
    while True:
        page = operator.get(f"/api/v1/{path}", query).json()
        pages += [each["id"] for each in page["items"]]
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert (pages, len(whole) >= 3) == (whole, True)


def test_a_silence_starts_and_ends(operator: APIClient) -> None:
    made = operator.post("/api/v1/silences", {"reason": "load test", "duration_seconds": 3600})
    assert made.status_code == 201
    path = f"/api/v1/silences/{made.json()['id']}"
    assert [each["id"] for each in operator.get("/api/v1/silences?is_in_force=true").json()["items"]] == [
        made.json()["id"]
    ]
    assert operator.delete(path).status_code == 204
    assert operator.get("/api/v1/silences?is_in_force=true").json()["items"] == []
    assert Silence.objects.count() == 1
    told = AuditEvent.objects.filter(action__startswith="silence.").values_list("action", "target_name")
    assert set(told) == {("silence.created", "load test"), ("silence.ended", "load test")}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"duration_seconds": 0}, "duration_seconds"),
        ({"reason": ""}, "reason"),
        ({"rule_id": "alr-none"}, "rule_id"),
        ({"instance_id": "rm-none"}, "instance_id"),
        ({"starts_at": "soon"}, "starts_at"),
        ({"starts_at": "9999-12-31T23:59:00Z"}, "starts_at"),
    ],
)
def test_bad_silences_name_the_field(operator: APIClient, fields: dict[str, Any], field: str) -> None:
    answer = operator.post("/api/v1/silences", {"reason": "x", "duration_seconds": 60, **fields})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)


def test_a_test_mail_goes_out_at_once(admin: APIClient) -> None:
    assert admin.post("/api/v1/alerts/test-mail", {"to": "dba@example.com"}).json()["code"] == "no_mail_server"
    with smtp_server() as (port, mailbox):
        row = settings_get()
        row.smtp_host, row.smtp_port = "127.0.0.1", port
        row.save()
        sent = admin.post("/api/v1/alerts/test-mail", {"to": "dba@example.com"})
        assert (sent.status_code, sent.json()["server"]) == (200, f"127.0.0.1:{port}")
        assert mailbox.messages[0]["Subject"] == "[Test] Fast Query Cache can send mail"
        mailbox.answer_to_data = "550 not here"
        refused = admin.post("/api/v1/alerts/test-mail", {"to": "dba@example.com"})
        assert (refused.status_code, refused.json()["code"]) == (502, "mail_refused")
        assert "not here" in refused.json()["detail"]
