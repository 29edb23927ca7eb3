"""Channels over HTTP: kinds, secrets that are never shown, addresses that are refused, and the test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from controlplane.alerts.models import Channel
from controlplane.audit.models import AuditEvent
from controlplane.gateway.tests.receiver import Desk, receiver
from controlplane.gateway.tests.smtp import smtp_server
from controlplane.settings.selectors import settings_get

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("answers_keep_the_contract")]
PATH = "/api/v1/channels"
KEY = "a key to sign messages with".replace(" ", "-")


@pytest.fixture
def desk(db: None) -> Iterator[Desk]:
    row = settings_get()
    row.channel_networks = ["127.0.0.0/8"]
    row.save()
    with receiver() as found:
        yield found


def webhook(desk: Desk, **fields: Any) -> dict[str, Any]:
    return {"name": "ops", "kind": "webhook", "url": desk.url, "secret": KEY, **fields}


def refusal(answer: Any) -> tuple[int, str, str]:
    return answer.status_code, answer.json()["code"], answer.json()["errors"][0]["field"]


def test_a_channel_lives_and_its_secret_is_shown_nowhere(admin: APIClient, desk: Desk) -> None:
    made = admin.post(PATH, webhook(desk))
    assert (made.status_code, made.json()["has_secret"]) == (201, True)
    path = f"{PATH}/{made.json()['id']}"
    changed = admin.put(path, {**webhook(desk, tags={"a": "b"}), "secret": KEY + "2"}, HTTP_IF_MATCH=made["ETag"])
    assert changed.json()["tags"] == {"a": "b"}
    trail = [event.after for event in AuditEvent.objects.filter(target_id=made.json()["id"])]
    told = json.dumps([made.json(), changed.json(), admin.get(path).json(), admin.get(PATH).json(), trail])
    assert KEY not in told and KEY not in Channel.objects.get().secret_sealed
    assert admin.delete(path, HTTP_IF_MATCH=changed["ETag"]).status_code == 204
    actions = AuditEvent.objects.filter(target_id=made.json()["id"]).order_by("created_at")
    assert [event.action for event in actions] == ["channel.created", "channel.updated", "channel.deleted"]


def test_channels_are_for_administrators(viewer: APIClient, operator: APIClient) -> None:
    for client in (viewer, operator):
        assert client.get(PATH).status_code == 403
        assert client.post(PATH, {}).status_code == 403


def test_a_stored_secret_goes_to_no_other_address(admin: APIClient, desk: Desk) -> None:
    made = admin.post(PATH, webhook(desk))
    path, body = f"{PATH}/{made.json()['id']}", {"name": "ops", "kind": "webhook"}
    elsewhere = {**body, "url": "http://127.0.0.1:1/elsewhere"}
    assert refusal(admin.put(path, elsewhere, HTTP_IF_MATCH="*")) == (400, "password_required", "secret")
    kept = admin.put(path, {**body, "url": desk.url, "is_enabled": False}, HTTP_IF_MATCH="*")
    assert (kept.status_code, kept.json()["has_secret"]) == (200, True)
    assert admin.put(path, {**elsewhere, "secret": KEY}, HTTP_IF_MATCH="*").status_code == 200


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"kind": "pigeon"}, "kind"),
        ({"url": ""}, "url"),
        ({"url": "ftp://example.com/"}, "url"),
        ({"url": "https://user:pass@example.com/"}, "url"),
        ({"url": "https://example.com/#part"}, "url"),
        ({"url": "https://example.com:99999/"}, "url"),
        ({"url": "https://exa mple.com/"}, "url"),
        ({"url": "https:///path"}, "url"),
        ({"secret": "short"}, "secret"),
        ({"recipients": ["a@example.com"]}, "recipients"),
        ({"kind": "mail", "url": "", "secret": "", "recipients": []}, "recipients"),
        ({"kind": "slack", "url": "", "secret": "T0/B0/x"}, "secret"),
        ({"kind": "pagerduty", "secret": ""}, "secret"),
        ({"tags": {"a__b": "c"}}, "tags"),
        ({"name": ""}, "name"),
    ],
)
def test_bad_channels_name_the_field(admin: APIClient, desk: Desk, fields: dict[str, Any], field: str) -> None:
    answer = admin.post(PATH, webhook(desk, **fields))
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field), answer.json()


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest", "https://10.0.0.1/", "http://[::1]:8000/", "https://[fec0::1]/"]
)
def test_an_address_outside_the_allowed_networks_is_not_kept(admin: APIClient, desk: Desk, url: str) -> None:
    assert refusal(admin.post(PATH, webhook(desk, url=url))) == (422, "endpoint_refused", "url")
    slack = {"name": "s", "kind": "slack", "secret": url}
    assert refusal(admin.post(PATH, slack)) == (422, "endpoint_refused", "secret")


def test_a_key_does_not_travel_in_clear(admin: APIClient, desk: Desk) -> None:
    admin.patch("/api/v1/settings", {"channel_networks": ["10.0.0.0/8"]}, HTTP_IF_MATCH="*")
    body = {"name": "p", "kind": "pagerduty", "url": "http://10.0.0.1/", "secret": "R0UT1NG"}
    assert refusal(admin.post(PATH, body)) == (422, "password_withheld", "url")


def test_the_kind_stays_and_a_name_is_taken_once(admin: APIClient, desk: Desk) -> None:
    made = admin.post(PATH, webhook(desk)).json()
    mail = {"name": "ops", "kind": "mail", "recipients": ["a@example.com"]}
    assert refusal(admin.put(f"{PATH}/{made['id']}", mail, HTTP_IF_MATCH="*")) == (400, "invalid", "kind")
    assert admin.post(PATH, webhook(desk)).json()["code"] == "name_taken"


@pytest.mark.parametrize("kind", ["webhook", "slack", "pagerduty"])
def test_a_test_is_sent_at_once_and_a_refusal_is_the_answer(admin: APIClient, desk: Desk, kind: str) -> None:
    body = {"slack": {"url": "", "secret": desk.url}}.get(kind, {})
    made = admin.post(PATH, webhook(desk, kind=kind, **body)).json()
    assert admin.post(f"{PATH}/{made['id']}/test").status_code == 204
    if kind == "pagerduty":
        assert [received.json["event_action"] for received in desk.received] == ["trigger", "resolve"]
    else:
        assert "[Test] Fast Query Cache can notify ops" in desk.received[0].body.decode()
    desk.status, desk.said = 403, b"no such hook"
    refused = admin.post(f"{PATH}/{made['id']}/test")
    assert (refused.status_code, refused.json()["code"]) == (502, "receiver_refused")
    assert "no such hook" in refused.json()["detail"]


def test_a_test_of_a_mail_channel_reaches_its_people(admin: APIClient) -> None:
    people = ["a@example.com", "b@example.com"]
    made = admin.post(PATH, {"name": "m", "kind": "mail", "recipients": people}).json()
    with smtp_server() as (port, mailbox):
        row = settings_get()
        row.smtp_host, row.smtp_port = "127.0.0.1", port
        row.save()
        assert admin.post(f"{PATH}/{made['id']}/test").status_code == 204
        assert mailbox.recipients == [people]


def test_a_rotation_of_keys_seals_secrets_anew(admin: APIClient, desk: Desk, settings: Any) -> None:
    admin.post(PATH, webhook(desk))
    settings.SEALING_KEYS = ["a newer key of forty characters, or so it is", *settings.SEALING_KEYS]
    call_command("rotate_sealing_key")
    settings.SEALING_KEYS = settings.SEALING_KEYS[:1]
    assert Channel.objects.get().secret == KEY


def test_what_rules_can_watch_has_metrics_and_states(viewer: APIClient) -> None:
    kinds = {it["name"]: it["kind"] for it in viewer.get("/api/v1/alert-metrics").json()["items"]}
    assert (kinds["hit_ratio"], kinds["unreachable"]) == ("ratio", "state")
