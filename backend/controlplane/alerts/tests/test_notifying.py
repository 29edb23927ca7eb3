"""Channels with real HTTP receivers: formats, signatures, order, retries, and which channel gets which incidents."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from controlplane.alerts import notifying
from controlplane.alerts.channel_services import channel_create
from controlplane.alerts.incidents import IncidentTransition, transitions_apply
from controlplane.alerts.models import AlertRule, Channel, Incident, Mail, Notification
from controlplane.alerts.notifying import notifications_send
from controlplane.alerts.outbox import MOST_ALONE, MOST_ATTEMPTS
from controlplane.alerts.phases import OPENED, REMINDED, RESOLVED
from controlplane.alerts.services import silence_create
from controlplane.core.sealing import seal
from controlplane.fleet.models import Instance
from controlplane.gateway.tests.receiver import Desk, receiver
from controlplane.metrics.tests.fleet import instance_make
from controlplane.settings.selectors import settings_get

pytestmark = pytest.mark.django_db
KEY = "a key to sign messages with"
NOW = timezone.now().timestamp()
GUIDE = Path(__file__).parents[4] / "docs/guides/alerts.md"


@pytest.fixture(autouse=True)
def _loopback_is_allowed(db: None) -> None:
    row = settings_get()
    row.channel_networks = ["127.0.0.0/8"]
    row.save()


@pytest.fixture
def desk() -> Iterator[Desk]:
    with receiver() as found:
        yield found


def channel(desk: Desk, kind: str = "webhook", **fields: Any) -> Channel:
    given = {
        "webhook": {"url": desk.url, "secret": KEY},
        "slack": {"secret": desk.url},
        "pagerduty": {"url": desk.url, "secret": "R0UT1NG"},
        "mail": {"recipients": ["team@example.com"]},
    }[kind]
    return channel_create(**{"name": kind, "kind": kind, **given, **fields})


def rule(name: str = "server unreachable") -> AlertRule:
    return AlertRule.objects.get(name=name)


def tell(instance: Instance, *transitions: str, of: AlertRule | None = None, after: float = 0) -> None:
    for number, transition in enumerate(transitions):
        at = NOW + after + number * 60
        transitions_apply(
            [IncidentTransition(of or rule(), instance, transition, 0, 1.0, at, detail="connection refused")]
        )


def events(desk: Desk) -> list[str]:
    return [received.json["event"] for received in desk.received]


def due() -> None:
    Notification.objects.update(due_at=timezone.now())
    Channel.objects.update(resting_until=None)


def test_a_webhook_gets_the_facts_signed_with_their_time(desk: Desk) -> None:
    channel(desk)
    tell(instance_make(name="shop-1", tags={"team": "shop"}), OPENED)
    assert notifications_send() == 1
    [received] = desk.received
    signed = f"{received.headers['FQC-Timestamp']}.".encode() + received.body
    assert received.headers["FQC-Signature"] == f"v1={hmac.new(KEY.encode(), signed, hashlib.sha256).hexdigest()}"
    facts, incident = received.json, Incident.objects.get()
    assert (facts["event"], facts["incident"]["id"], facts["incident"]["severity"], facts["seen"]) == (
        "opened", incident.pk, "critical", "connection refused",
    )  # fmt: skip
    assert (facts["instance"]["name"], facts["instance"]["tags"]) == ("shop-1", {"team": "shop"})
    assert facts["likely_cause"] and facts["next_action"] and facts["incident"]["url"].endswith(incident.pk)
    assert [event.kind for event in incident.events.all()] == ["opened", "notified"]


def test_the_check_of_the_guide_takes_what_is_genuine_and_nothing_else(desk: Desk) -> None:
    [block] = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    guide: dict[str, Any] = {}
    exec(block, guide)  # the code that a reader would copy
    channel(desk)
    tell(instance_make(), OPENED)
    notifications_send()
    [received] = desk.received
    assert guide["is_genuine"](KEY, received.headers, received.body)
    assert not guide["is_genuine"](f"{KEY}x", received.headers, received.body)
    assert not guide["is_genuine"](KEY, received.headers, received.body + b" ")
    later = {**received.headers, "FQC-Timestamp": str(int(received.headers["FQC-Timestamp"]) + 1)}
    old = {**received.headers, "FQC-Timestamp": str(int(received.headers["FQC-Timestamp"]) - 600)}
    assert not guide["is_genuine"](KEY, later, received.body)
    assert not guide["is_genuine"](KEY, signed_anew(old, received.body), received.body)


def signed_anew(headers: dict[str, str], body: bytes) -> dict[str, str]:
    signed = hmac.new(KEY.encode(), f"{headers['FQC-Timestamp']}.".encode() + body, hashlib.sha256).hexdigest()
    return {**headers, "FQC-Signature": f"v1={signed}"}


def test_a_receiver_that_answers_nonsense_costs_the_others_nothing(desk: Desk) -> None:
    with receiver() as other:
        other.status, other.headers, other.said = 503, {"Transfer-Encoding": "chunked"}, b"-5\r\nhello"
        channel(other, name="nonsense")
        channel(desk)
        tell(instance_make(), OPENED)
        assert notifications_send() == 1
    states = dict(Notification.objects.values_list("channel__name", "state"))
    assert states == {"nonsense": "queued", "webhook": "sent"}


def test_a_channel_whose_message_cannot_be_made_costs_the_others_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = notifying.message_for

    def failing(kind: str, *facts: Any, **more: Any) -> Any:
        return whole(kind, *facts, **more) if kind == "webhook" else 1 / 0

    monkeypatch.setattr(notifying, "message_for", failing)
    channel(desk, "slack")
    channel(desk)
    tell(instance_make(), OPENED)
    assert notifications_send() == 1
    assert dict(Notification.objects.values_list("channel__name", "state")) == {"slack": "queued", "webhook": "sent"}
    assert "ZeroDivisionError" in Channel.objects.get(name="slack").last_error


def test_what_was_sent_is_not_sent_again(desk: Desk) -> None:
    channel(desk)
    tell(instance_make(), OPENED)
    assert (notifications_send(), notifications_send(), len(desk.received)) == (1, 0, 1)


def test_slack_gets_text_in_the_colour_of_the_severity_and_no_markup_of_names(desk: Desk) -> None:
    channel(desk, "slack")
    tell(instance_make(name="<!channel> & co"), OPENED)
    notifications_send()
    [attachment] = desk.received[0].json["attachments"]
    assert (attachment["color"], attachment["title"]) == (
        "#ad221b", "[Alert] server unreachable: &lt;!channel&gt; &amp; co",
    )  # fmt: skip
    assert [field["title"] for field in attachment["fields"]] == ["Likely cause", "What to do", "Seen"]


def test_many_of_a_kind_become_one_message_to_slack(desk: Desk) -> None:
    channel(desk, "slack")
    for _ in range(MOST_ALONE + 1):
        tell(instance_make(), OPENED)
    assert (notifications_send(), len(desk.received)) == (MOST_ALONE + 1, 1)
    assert desk.received[0].json["attachments"][0]["title"] == f"[Alert] {MOST_ALONE + 1} incidents"


def test_pagerduty_gets_a_trigger_and_a_resolve_under_one_key(desk: Desk) -> None:
    channel(desk, "pagerduty")
    tell(instance_make(name="shop-1"), OPENED, RESOLVED)
    assert (notifications_send(), notifications_send()) == (1, 1)
    trigger, resolve = [received.json for received in desk.received]
    key = Incident.objects.get().pk
    assert resolve == {"routing_key": "R0UT1NG", "event_action": "resolve", "dedup_key": key}
    assert (trigger["event_action"], trigger["dedup_key"], trigger["routing_key"]) == ("trigger", key, "R0UT1NG")
    assert (trigger["payload"]["source"], trigger["payload"]["severity"]) == ("shop-1", "critical")
    assert trigger["payload"]["summary"].startswith("server unreachable: ")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, ["live", "test"]),
        ({"tags": {"stage": "live"}}, ["live"]),
        ({"tags": {"stage": "live", "team": "shop"}}, []),
        ({"is_enabled": False}, []),
    ],
)
def test_a_channel_is_told_of_instances_with_its_tags(desk: Desk, fields: dict[str, Any], told: list[str]) -> None:
    channel(desk, **fields)
    for stage in ("live", "test"):
        tell(instance_make(name=stage, tags={"stage": stage}), OPENED)
    notifications_send()
    assert sorted(received.json["instance"]["name"] for received in desk.received) == told


@pytest.mark.parametrize(("name", "count"), [("server unreachable", 1), ("configuration drift", 0)])
def test_a_channel_for_critical_incidents_is_told_of_no_others(desk: Desk, name: str, count: int) -> None:
    channel(desk, least_severity="critical")
    tell(instance_make(), OPENED, of=rule(name))
    assert notifications_send() == count


def test_a_mail_channel_adds_its_people_to_the_usual_ones_once() -> None:
    row = settings_get()
    row.smtp_host, row.mail_to = "127.0.0.1", ["dba@example.com", "team@example.com"]
    row.save()
    channel_create(name="shop", kind="mail", recipients=["team@example.com", "shop@example.com"], tags={"team": "shop"})
    tell(instance_make(tags={"team": "shop"}), OPENED)
    tell(instance_make(), OPENED)
    assert [mail.recipients for mail in Mail.objects.order_by("created_at")] == [
        ["dba@example.com", "team@example.com", "shop@example.com"],
        ["dba@example.com", "team@example.com"],
    ]
    assert not Notification.objects.exists()


def test_an_incident_that_was_acknowledged_sends_no_reminders(desk: Desk) -> None:
    channel(desk)
    instance = instance_make()
    tell(instance, OPENED)
    Incident.objects.update(acknowledged_at=timezone.now())
    tell(instance, REMINDED, RESOLVED, after=60)
    assert (notifications_send(), notifications_send(), events(desk)) == (1, 1, ["opened", "resolved"])


def test_a_silence_keeps_channels_quiet_too(desk: Desk) -> None:
    channel(desk)
    silence_create(reason="maintenance", duration_seconds=3600)
    tell(instance_make(), OPENED)
    assert notifications_send() == 0
    assert "no messages until" in Incident.objects.get().events.get(kind="silenced").detail


def test_what_is_not_taken_is_tried_again_later_and_what_resolves_never_overtakes_it(desk: Desk) -> None:
    channel(desk)
    tell(instance_make(), OPENED, RESOLVED)
    desk.status = 503
    assert (notifications_send(), notifications_send(), events(desk)) == (0, 0, ["opened"])
    assert "503" in Channel.objects.get().last_error
    desk.status = 200
    assert notifications_send() == 0  # the channel rests
    due()
    assert (notifications_send(), notifications_send(), events(desk)) == (1, 1, ["opened", "opened", "resolved"])
    assert desk.received[0].headers["FQC-Delivery"] == desk.received[1].headers["FQC-Delivery"]
    assert Channel.objects.get().last_error == ""


def test_a_receiver_says_how_long_it_wants_to_rest(desk: Desk) -> None:
    channel(desk)
    tell(instance_make(), OPENED)
    desk.status, desk.headers = 429, {"Retry-After": "900"}
    notifications_send()
    until = Channel.objects.get().resting_until
    assert until and until > timezone.now() + timedelta(minutes=14)


def test_a_receiver_that_takes_nothing_is_asked_once_and_not_for_each_message(desk: Desk) -> None:
    channel(desk)
    for _ in range(5):
        tell(instance_make(), OPENED)
    desk.status = 500
    notifications_send()
    assert len(desk.received) == 1
    assert sorted(Notification.objects.values_list("attempts", flat=True)) == [0, 0, 0, 0, 1]


def test_a_refusal_is_final_for_its_message_and_on_the_timeline(desk: Desk) -> None:
    channel(desk)
    tell(instance_make(), OPENED, REMINDED)
    desk.status = 404
    notifications_send()
    desk.status = 200
    assert (notifications_send(), events(desk)) == (1, ["opened", "reminded"])
    assert [event.kind for event in Incident.objects.get().events.order_by("pk")][-2:] == ["not_notified", "notified"]


def test_after_many_attempts_it_is_given_up(desk: Desk) -> None:
    channel(desk)
    tell(instance_make(), OPENED)
    desk.status = 500
    for _ in range(MOST_ATTEMPTS + 1):
        notifications_send()
        due()
    assert (len(desk.received), Notification.objects.get().state) == (MOST_ATTEMPTS, "failed")


def test_a_channel_that_hangs_holds_up_no_other(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controlplane.gateway.post.TIMEOUT_SECONDS", 1)
    with receiver() as hanging:
        hanging.may_answer.clear()
        channel(hanging, name="a hanging one")
        channel(desk)
        for _ in range(3):
            tell(instance_make(), OPENED)
        monkeypatch.setattr(notifying, "Receiver", lambda *given, **named: RECEIVER(*given, **named, timeout_seconds=1))
        assert (notifications_send(), len(desk.received), len(hanging.received)) == (3, 3, 1)


RECEIVER = notifying.Receiver


def test_what_a_dead_sender_left_is_sent_again_under_the_same_name(desk: Desk) -> None:
    channel(desk)
    tell(instance_make(), OPENED)
    Notification.objects.update(state="sending", claimed_at=timezone.now() - timedelta(minutes=5))
    assert notifications_send() == 0
    Notification.objects.update(claimed_at=timezone.now() - timedelta(minutes=11))
    assert notifications_send() == 1


def test_a_secret_that_cannot_be_opened_waits_and_says_so(desk: Desk) -> None:
    made = channel(desk)
    tell(instance_make(), OPENED)
    Channel.objects.update(secret_sealed=seal(KEY, ["a key that is gone"], made.secret_context))
    assert (notifications_send(), desk.received, Notification.objects.get().state) == (0, [], "queued")
    assert "FQC_SEALING_KEYS" in Channel.objects.get().last_error


def test_a_network_that_is_allowed_no_more_gets_nothing(desk: Desk) -> None:
    channel(desk)
    tell(instance_make(), OPENED)
    row = settings_get()
    row.channel_networks = []
    row.save()
    assert (notifications_send(), desk.received) == (0, [])
    assert "allowed networks" in Channel.objects.get().last_error
