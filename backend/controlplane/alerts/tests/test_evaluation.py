"""From samples to incidents: opening, silences, overrides, scope, and two evaluators at once."""

from __future__ import annotations

from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.utils import timezone

from controlplane.alerts import services
from controlplane.alerts.evaluation import evaluate
from controlplane.alerts.mailing import mails_send
from controlplane.alerts.models import AlertRule, Incident, Mail, Standing
from controlplane.audit.models import AuditEvent
from controlplane.core.models import Event
from controlplane.fleet.models import Instance
from controlplane.fleet.services import instance_forget
from controlplane.gateway.tests.smtp import smtp_server
from controlplane.metrics.models import Sample
from controlplane.metrics.partitions import partitions_ensure
from controlplane.metrics.tests.fleet import instance_make
from controlplane.settings.selectors import settings_get

pytestmark = pytest.mark.django_db
T = int(timezone.now().timestamp()) // 60 * 60


@pytest.fixture(autouse=True)
def _mail_is_set_up(db: None) -> None:
    row = settings_get()
    row.smtp_host, row.mail_to = "127.0.0.1", ["dba@example.com"]
    row.save()


def shipped() -> AlertRule:
    return AlertRule.objects.get(name="low hit ratio")


def sampled(instance: Instance, at: int, *, seconds: float = 15, **sample: int) -> None:
    partitions_ensure(Sample, at, at)
    Sample.objects.create(instance_id=instance.pk, at=at, seconds=seconds, **sample)


def watch(instance: Instance, minutes: int, start: int = 0, **sample: int) -> int:
    """Adds samples with these columns every 15 s and evaluates all rules every minute, from minute `start` on.

    Returns the number of reported transitions.
    """
    return sum(look(instance, T + minute * 60, **sample) for minute in range(start, start + minutes))


def look(instance: Instance, now: int, **sample: int) -> int:
    for ago in (45, 30, 15, 0):
        sampled(instance, now - ago, **sample)
    return evaluate(now)


def test_the_shipped_rule_opens_after_ten_bad_minutes_and_resolves() -> None:
    instance = instance_make(name="shop-1")
    assert watch(instance, 10, hits=10, lookups=100) == 0
    assert watch(instance, 1, start=10, hits=10, lookups=100) == 1
    incident = Incident.objects.get()
    assert (incident.instance_name, incident.opened_value, incident.resolved_at) == ("shop-1", 10.0, None)
    assert watch(instance, 8, start=11, hits=90, lookups=100) == 1
    incident.refresh_from_db()
    assert incident.resolved_at is not None
    assert [event.kind for event in incident.events.all()] == ["opened", "resolved"]
    assert sorted(Mail.objects.values_list("subject", flat=True)) == [
        "[Alert] low hit ratio: shop-1",
        "[Resolved] low hit ratio: shop-1",
    ]
    assert set(AuditEvent.objects.filter(target_id=incident.pk).values_list("action", "target_name")) == {
        ("incident.opened", "low hit ratio: shop-1"),
        ("incident.resolved", "low hit ratio: shop-1"),
    }
    assert not Standing.objects.exists()


def test_an_open_incident_tells_the_newest_value() -> None:
    instance = instance_make()
    watch(instance, 11, hits=10, lookups=100)
    look(instance, T + 660, hits=30, lookups=100)
    assert (Incident.objects.get().opened_value, Incident.objects.get().last_value) == (10.0, 30.0)
    look(instance, T + 720, hits=0, lookups=0)  # nothing can be judged, so the last state stays
    assert Incident.objects.get().last_value == 30.0


def test_a_mail_leads_to_its_incident(settings: Any) -> None:
    settings.PUBLIC_URL = "https://fqc.example"
    watch(instance_make(), 11, hits=10, lookups=100)
    assert f"https://fqc.example/alerts?incident={Incident.objects.get().pk}" in Mail.objects.get().text


def test_a_look_at_many_open_incidents_takes_as_many_queries_as_at_few(django_assert_max_num_queries: Any) -> None:
    AlertRule.objects.update(for_seconds=0)
    instances = [instance_make() for _ in range(30)]
    for instance in instances:
        sampled(instance, T, hits=10, lookups=100)
    assert evaluate(T) == 30
    for instance in instances:
        sampled(instance, T + 60, hits=20, lookups=100)
    with django_assert_max_num_queries(18):
        evaluate(T + 60)
    assert set(Incident.objects.values_list("last_value", flat=True)) == {20.0}


def test_little_traffic_opens_nothing() -> None:
    assert watch(instance_make(), 12, hits=0, lookups=10) == 0  # 0.67 lookups/s


def test_a_server_that_does_not_answer_opens_and_resolves_nothing() -> None:
    instance = instance_make()
    watch(instance, 11, hits=10, lookups=100)
    for minute in range(13, 60):
        evaluate(T + minute * 60)
    assert Incident.objects.get().resolved_at is None


def test_a_silence_keeps_the_mail_back_and_says_so() -> None:
    instance = instance_make(tags={"stage": "test"})
    services.silence_create(reason="load test", duration_seconds=86400, tags={"stage": "test"})
    watch(instance, 11, hits=10, lookups=100)
    incident = Incident.objects.get()
    assert not Mail.objects.exists()
    assert [event.kind for event in incident.events.all()] == ["opened", "silenced"]
    assert "load test" in incident.events.last().detail  # type: ignore[union-attr]


def test_a_silence_outlives_a_clock_that_is_set_back() -> None:
    instance = instance_make()
    services.silence_create(reason="load test", duration_seconds=86400)
    watch(instance, 11, start=-120, hits=10, lookups=100)
    assert [event.kind for event in Incident.objects.get().events.all()] == ["opened", "silenced"]
    assert not Mail.objects.exists()


def test_a_silence_that_is_yet_to_come_waits() -> None:
    later = timezone.now() + timedelta(days=1)
    services.silence_create(reason="load test", duration_seconds=86400, starts_at=later)
    watch(instance_make(), 11, hits=10, lookups=100)
    assert Mail.objects.count() == 1


def test_a_clock_that_jumps_ahead_opens_nothing_early() -> None:
    instance = instance_make()
    assert watch(instance, 2, hits=10, lookups=100) == 0
    assert watch(instance, 8, start=60, hits=10, lookups=100) == 0
    assert watch(instance, 1, start=68, hits=10, lookups=100) == 1


def test_a_clock_that_is_set_back_opens_late_by_a_sample_at_most() -> None:
    instance = instance_make()
    assert watch(instance, 5, hits=10, lookups=100) == 0
    assert watch(instance, 6, start=-120, hits=10, lookups=100) == 0
    assert watch(instance, 1, start=-114, hits=10, lookups=100) == 1


def test_a_clock_that_jumps_ahead_resolves_nothing_early() -> None:
    instance = instance_make()
    watch(instance, 11, hits=10, lookups=100)
    assert watch(instance, 1, start=11, hits=90, lookups=100) == 0
    assert watch(instance, 4, start=600, hits=90, lookups=100) == 0
    assert watch(instance, 1, start=604, hits=90, lookups=100) == 1


def test_a_reminder_comes_after_its_time_of_samples_however_often_the_clock_jumps() -> None:
    instance = instance_make()
    services.rule_update(rule=shipped(), reminder_seconds=1200)
    watch(instance, 11, hits=10, lookups=100)
    for hours in (25, 50, 75):
        watch(instance, 5, start=hours * 60, hits=10, lookups=100)
    assert Mail.objects.count() == 1
    assert watch(instance, 10, start=75 * 60 + 5, hits=10, lookups=100) == 1
    assert Mail.objects.count() == 2


def test_a_reminder_that_is_due_at_every_look_comes_at_every_look() -> None:
    instance = instance_make()
    AlertRule.objects.update(for_seconds=0, reminder_seconds=15)
    assert [look(instance, T + minute * 60, hits=10, lookups=100) for minute in range(3)] == [1, 1, 1]
    assert [event.kind for event in Incident.objects.get().events.all()] == ["opened", "reminded", "reminded"]


def test_a_silence_for_others_changes_nothing() -> None:
    services.silence_create(reason="other", duration_seconds=86400, tags={"stage": "test"})
    watch(instance_make(tags={"stage": "live"}), 11, hits=10, lookups=100)
    assert Mail.objects.count() == 1


@pytest.mark.parametrize(("override", "opened"), [({"threshold": 5.0}, 0), ({"is_exempt": True}, 0), ({}, 1)])
def test_overrides_of_one_instance(override: dict[str, Any], opened: int) -> None:
    instance, rule = instance_make(), shipped()
    services.rule_update(rule=rule, overrides=[{"instance_id": instance.pk, **override}] if override else [])
    assert watch(instance, 11, hits=10, lookups=100) == opened


@pytest.mark.parametrize(("tags", "opened"), [({"stage": "live"}, 1), ({"stage": "test"}, 0)])
def test_a_scope_of_tags(tags: dict[str, str], opened: int) -> None:
    services.rule_update(rule=shipped(), scope="tags", tags={"stage": "live"})
    assert watch(instance_make(tags=tags), 11, hits=10, lookups=100) == opened


def test_switching_a_rule_off_resolves_what_it_opened() -> None:
    instance = instance_make()
    watch(instance, 11, hits=10, lookups=100)
    services.rule_update(rule=shipped(), is_enabled=False)
    assert evaluate(T + 700) == 1
    assert Incident.objects.get().resolved_at is not None


def test_deleting_a_rule_resolves_what_it_opened_and_keeps_it_readable() -> None:
    watch(instance_make(), 11, hits=10, lookups=100)
    services.rule_delete(rule=shipped())
    incident = Incident.objects.get()
    assert (incident.rule_id, incident.rule_name, incident.resolved_at is None) == (None, "low hit ratio", False)


def test_a_deleted_instance_leaves_its_incident_behind_as_resolved() -> None:
    instance = instance_make(name="gone")
    watch(instance, 11, hits=10, lookups=100)
    instance_forget(instance)
    incident = Incident.objects.get()
    assert (incident.instance_name, incident.resolved_at is None) == ("gone", False)
    assert incident.events.get(kind="resolved").detail == "the instance was deleted"


ENDS = {
    "the rule was deleted": lambda instance: services.rule_delete(rule=shipped()),
    "the instance was deleted": instance_forget,
    "the rule was switched off": lambda instance: services.rule_update(rule=shipped(), is_enabled=False),
    "the rule no longer covers it": lambda instance: services.rule_update(
        rule=shipped(), overrides=[{"instance_id": instance.pk, "is_exempt": True}]
    ),
}


@pytest.mark.parametrize("why", ENDS)
def test_the_end_of_watching_is_told_by_mail_in_the_thread_with_its_reason(why: str) -> None:
    instance = instance_make(name="shop-1")
    watch(instance, 11, hits=10, lookups=100)
    with smtp_server() as (port, mailbox):
        row = settings_get()
        row.smtp_port = port
        row.save()
        mails_send()
        ENDS[why](instance)
        evaluate(T + 700)
        mails_send()
        opened, ended = mailbox.messages
    assert (ended["Subject"], ended["To"]) == ("[No longer monitored] low hit ratio: shop-1", "dba@example.com")
    assert ended["In-Reply-To"] == opened["Message-ID"]
    for part in ("plain", "html"):
        words = unescape(ended.get_body((part,)).get_content())
        assert f"Hit ratio of the server's cache on shop-1 is no longer monitored: {why}." in words and "10 %" in words
    told = Event.objects.filter(topic="incident").order_by("pk")
    assert list(told.values_list("facts__transition", flat=True)) == ["opened", "resolved"]


@pytest.mark.parametrize("why", ["the rule was deleted", "the instance was deleted"])
@pytest.mark.parametrize("covered", [{}, {"tags": {"stage": "old"}}], ids=["all", "its tags"])
def test_what_is_silenced_ends_without_a_mail(why: str, covered: dict[str, Any]) -> None:
    instance = instance_make(tags={"stage": "old"})
    watch(instance, 11, hits=10, lookups=100)
    services.silence_create(reason="taken out of use", duration_seconds=86400, **covered)
    ENDS[why](instance)
    evaluate(T + 700)
    assert Mail.objects.count() == 1
    kinds = list(Incident.objects.get().events.order_by("id").values_list("kind", flat=True))
    assert kinds == ["opened", "resolved", "silenced"]


def test_a_rule_of_one_instance_goes_with_it_and_still_tells_those_it_told() -> None:
    instance = instance_make(name="gone")
    services.rule_update(rule=shipped(), scope="instance", instance_id=instance.pk, recipients=["owner@example.com"])
    watch(instance, 11, hits=10, lookups=100)
    instance_forget(instance)
    assert [mail.recipients for mail in Mail.objects.order_by("created_at")] == [["owner@example.com"]] * 2
    assert not AlertRule.objects.filter(name="low hit ratio").exists()
    incident = Incident.objects.get()
    assert (incident.rule, incident.instance, incident.resolved_at is None) == (None, None, False)


def test_looking_twice_at_one_moment_tells_once() -> None:
    instance = instance_make()
    watch(instance, 11, hits=10, lookups=100)
    assert evaluate(T + 600) == 0
    assert (Incident.objects.count(), Mail.objects.count()) == (1, 1)


def test_a_stand_that_somebody_else_moved_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another evaluation opens the incident between this one's read and write; this one then reports nothing, so that
    there is one incident and one mail.
    """
    from controlplane.alerts import evaluation

    instance = instance_make()
    watch(instance, 10, hits=10, lookups=100)
    for ago in (45, 30, 15, 0):
        sampled(instance, T + 600 - ago, hits=10, lookups=100)
    moves, raced = evaluation._moves, []

    def after_the_other(rule: AlertRule, *arguments: Any) -> Any:
        mine = list(moves(rule, *arguments))
        if not raced:
            raced.append(True)
            evaluate(T + 600)
        return mine

    monkeypatch.setattr(evaluation, "_moves", after_the_other)
    assert evaluate(T + 600) == 0
    assert (Incident.objects.count(), Mail.objects.count()) == (1, 1)


@pytest.mark.parametrize("is_silenced", [False, True])
def test_a_thousand_incidents_open_remind_and_resolve_at_the_statements_of_a_few(
    is_silenced: bool, django_assert_max_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of statements stays within a limit that does not depend on the number of incidents, and each incident
    has its timeline, audit events and mail.
    """
    monkeypatch.setattr("controlplane.alerts.evaluation.BATCH", 40)
    AlertRule.objects.update(for_seconds=0, reminder_seconds=15)
    if is_silenced:
        services.silence_create(reason="load test", duration_seconds=86400)
    instances = [instance_make() for _ in range(30)]
    for now, hits, most in ((T, 10, 27), (T + 60, 20, 29), (T + 120, 90, 29)):
        for instance in instances:
            sampled(instance, now, hits=hits, lookups=100)
        with django_assert_max_num_queries(most):
            evaluate(now)
    assert Incident.objects.exclude(resolved_at=None).count() == 30
    for incident in Incident.objects.prefetch_related("events", "mails"):
        kinds = [event.kind for event in incident.events.all() if event.kind != "silenced"]
        assert kinds == ["opened", "reminded", "resolved"]
        assert (incident.opened_value, incident.last_value) == (10.0, 90.0)
        assert sorted(mail.kind for mail in incident.mails.all()) == ([] if is_silenced else kinds)
        trail = AuditEvent.objects.filter(target_id=incident.pk).values_list("action", flat=True)
        assert sorted(trail) == [f"incident.{kind}" for kind in kinds]
    assert not Standing.objects.exists()


def test_one_incident_that_somebody_else_opened_keeps_none_of_the_others_back() -> None:
    AlertRule.objects.update(for_seconds=0)
    instances = [instance_make() for _ in range(7)]
    facts = {"rule": shipped(), "threshold": 50, "opened_at": timezone.now(), "instance": instances[4]}
    Incident.objects.create(**facts)
    for instance in instances:
        sampled(instance, T, hits=10, lookups=100)
    assert evaluate(T) == 6
    assert {incident.instance_id for incident in Incident.objects.all()} == {each.pk for each in instances}
    assert Standing.objects.count() == 6


def test_one_look_at_many_instances_takes_constant_queries(django_assert_max_num_queries: Any) -> None:
    for _ in range(30):
        sampled(instance_make(), T, hits=90, lookups=100)
    with django_assert_max_num_queries(16):
        evaluate(T)


def test_the_shipped_rule_on_waits_for_row_locks_opens_after_five_minutes() -> None:
    instance = instance_make(name="shop-1")
    assert watch(instance, 5, row_lock_waits=151) == 0
    assert watch(instance, 1, start=5, row_lock_waits=151) == 1
    assert Incident.objects.get().rule_id == "alr-row-lock-waits"
    assert watch(instance, 6, start=6, row_lock_waits=150) == 1
    assert Incident.objects.get().resolved_at is not None
