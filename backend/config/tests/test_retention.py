"""Expired rows are deleted, rows in use stay, and finding them never reads the whole table."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.db import connection, transaction
from django.utils import timezone

from config.celery import app, beat_schedule
from controlplane.accounts.models import LoginFailure, Session, Token, User
from controlplane.alerts.models import Channel, Incident, IncidentEvent, Mail, Notification, Silence
from controlplane.audit.expiring import audit_expire
from controlplane.audit.models import AuditEvent
from controlplane.audit.services import WHOLE_TRAIL, audit_record
from controlplane.core import purging
from controlplane.core.models import Event, KeptAnswer, RateCount
from controlplane.core.request_context import acting_as
from controlplane.rpc.models import UsedNonce

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def user():
    return User.objects.get_or_create(username="owner")[0]


def token(**times):
    number = Token.objects.count()
    facts = {"expires_at": timezone.now() + DAY, **times}
    return Token.objects.create(user=user(), name="t", prefix=f"fqc_{number}", secret_hash="x", scope="viewer", **facts)


def incident(at, **facts):
    shown = {"rule_name": "r", "instance_name": "i", "metric": "hit_ratio", "comparison": "lt", "threshold": 1}
    row = Incident.objects.create(severity="warning", opened_at=at, **shown, **facts)
    IncidentEvent.objects.create(incident=row, at=at, kind="opened")
    return row


def aged(row, **times):
    type(row).objects.filter(pk=row.pk).update(**times)


def session(at):
    Session.objects.create(session_key=f"key-{Session.objects.count()}", session_data="", expire_date=at)


def failure(at):
    row = LoginFailure.objects.create(username=f"n{LoginFailure.objects.count()}", address="::1")
    aged(row, last_at=at)


def mail(at):
    row = Mail.objects.create(
        transition=f"x.opened{Mail.objects.count()}",
        recipients=[],
        subject="",
        text="",
        html="",
        due_at=at,
        state="sent",
    )
    aged(row, created_at=at)


def notification(at):
    number = Notification.objects.count()
    channel = Channel.objects.create(name=f"c{number}", kind="mail")
    facts = {"channel": channel, "incident": incident(at), "name": f"x{number}", "facts": {}, "due_at": at}
    row = Notification.objects.create(state="sent", **facts)
    aged(row, created_at=at)


def answer(at):
    row = KeptAnswer.objects.create(actor_id="usr", key=str(KeptAnswer.objects.count()), fingerprint="x")
    aged(row, created_at=at)


def nonce(at):
    row = UsedNonce.objects.create(signer="s", nonce=str(UsedNonce.objects.count()))
    aged(row, created_at=at)


def event(at):
    aged(Event.objects.create(topic="change", subject="chg-1"), created_at=at)


def silence(at):
    Silence.objects.create(reason="r", starts_at=at - DAY, ends_at=at, created_by="x")


def rate_count(at):
    RateCount.objects.create(name=str(RateCount.objects.count()), window=int(at.timestamp()) // 60, count=1)


def audit_event(at):
    with transaction.atomic(), acting_as("somebody"):
        aged(audit_record("settings.updated", WHOLE_TRAIL), created_at=at)


# Model, a function that makes a row of a given time, the app that expires it, and the oldest time that is kept.
KEPT = {
    "sessions": (Session, session, "accounts", -timedelta(0)),
    "failures": (LoginFailure, failure, "accounts", DAY),
    "expired tokens": (Token, lambda at: token(expires_at=at), "accounts", 30 * DAY),
    "revoked tokens": (Token, lambda at: token(revoked_at=at), "accounts", 30 * DAY),
    "events": (Event, event, "core", timedelta(hours=1)),
    "answers": (KeptAnswer, answer, "core", DAY),
    "rate counts": (RateCount, rate_count, "core", timedelta(minutes=1)),
    "nonces": (UsedNonce, nonce, "rpc", timedelta(minutes=31)),
    "mails": (Mail, mail, "alerts", 30 * DAY),
    "notifications": (Notification, notification, "alerts", 30 * DAY),
    "incidents": (Incident, lambda at: incident(at - DAY, resolved_at=at), "alerts", 400 * DAY),
    "silences": (Silence, silence, "alerts", 400 * DAY),
    "audit events": (AuditEvent, audit_event, "audit", 400 * DAY),
}


def expire(name):
    import_module(f"controlplane.{name}.tasks").expire()


def test_what_the_scheduler_calls_there_is():
    app.loader.import_default_modules()
    assert {entry["task"] for entry in beat_schedule().values()} <= set(app.tasks)
    assert {f"{name}.expire" for _, _, name, _ in KEPT.values()} <= set(beat_schedule())


@pytest.mark.parametrize("kind", KEPT)
def test_what_has_had_its_time_goes_in_batches_and_what_has_not_stays(kind, monkeypatch):
    monkeypatch.setattr(purging, "BATCH", 2)
    model, make, name, keep = KEPT[kind]
    now = timezone.now()
    for number in range(5):
        make(now - keep - timedelta(minutes=2 + number))
    make(now - keep + timedelta(minutes=2))
    expire(name)
    rows = model.objects.exclude(action="audit.purged") if model is AuditEvent else model.objects.all()
    assert rows.count() == 1
    expire(name)
    assert rows.count() == 1


@pytest.mark.parametrize("kind", ["revoked tokens", "mails", "notifications", "incidents", "silences", "audit events"])
def test_a_clock_that_was_set_far_ahead_by_mistake_removes_little(kind, clock):
    model, make, name, keep = KEPT[kind]
    expire(name)  # with the clock set right
    for left in (timedelta(hours=1), timedelta(hours=3), DAY):
        make(timezone.now() - keep + left)
    rows = model.objects.exclude(action="audit.purged") if model is AuditEvent else model.objects.all()
    clock.jump(timedelta(days=900).total_seconds())
    expire(name)
    assert rows.count() == 2
    clock.jump(0)
    expire(name)
    assert rows.count() == 2


def test_an_open_incident_stays_and_a_resolved_one_goes_with_its_timeline(settings):
    old = timezone.now() - 900 * DAY
    incident(old)
    incident(old, resolved_at=old)
    settings.INCIDENT_RETENTION_DAYS = 0
    expire("alerts")
    assert Incident.objects.count() == 2
    settings.INCIDENT_RETENTION_DAYS = 400
    expire("alerts")
    assert (Incident.objects.get().resolved_at, IncidentEvent.objects.count()) == (None, 1)


def test_one_event_says_what_was_removed_of_the_audit(monkeypatch, settings):
    monkeypatch.setattr(purging, "BATCH", 2)
    settings.AUDIT_RETENTION_DAYS = 10
    times = [timezone.now() - days * DAY for days in (19, 17, 15, 13, 11, 9)]
    for at in times:
        audit_event(at)
    assert audit_expire() == 5
    told = AuditEvent.objects.get(action="audit.purged")
    assert told.after == {"from": times[0].isoformat(), "to": times[4].isoformat(), "count": 5}
    assert told.actor == "system"
    assert audit_expire() == 0
    assert AuditEvent.objects.filter(action="audit.purged").count() == 1


def test_a_purge_of_the_audit_that_is_ended_in_the_middle_has_told_what_it_did(monkeypatch, settings):
    monkeypatch.setattr(purging, "BATCH", 2)
    settings.AUDIT_RETENTION_DAYS = 1
    for days in range(9, 4, -1):
        audit_event(timezone.now() - days * DAY)
    remove, calls = AuditEvent.objects.filter().delete.__func__, []

    def third_fails(rows):
        calls.append(rows)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return remove(rows)

    monkeypatch.setattr("django.db.models.query.QuerySet.delete", third_fails)
    with pytest.raises(KeyboardInterrupt):
        audit_expire()
    assert AuditEvent.objects.get(action="audit.purged").after["count"] == 4
    assert AuditEvent.objects.exclude(action="audit.purged").count() == 1


def test_the_audit_is_kept_for_ever_if_that_is_wanted(settings):
    settings.AUDIT_RETENTION_DAYS = 0
    audit_event(timezone.now() - 30_000 * DAY)
    assert audit_expire() == 0
    assert AuditEvent.objects.count() == 1


@pytest.mark.parametrize("kind", KEPT)
def test_what_goes_is_found_by_an_index(kind, monkeypatch):
    """The plan of the query that finds a batch of expired rows uses an index: a purge of a big table must not read it
    whole.
    """
    model, make, name, keep = KEPT[kind]
    make(timezone.now() - keep - timedelta(minutes=2))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")  # with few rows it would prefer to read the whole table
    rows = []
    original = purging.batches

    def recorded(found, by):
        rows.append(found.order_by(by)[:5])
        return original(found, by)

    monkeypatch.setattr(purging, "batches", recorded)
    if model is AuditEvent:
        monkeypatch.setattr("controlplane.audit.expiring.batches", recorded)
    expire(name)
    plans = [found.explain() for found in rows if found.model is model]
    assert plans
    wanted = "Index Cond" if connection.vendor == "postgresql" else "SEARCH"
    assert [plan for plan in plans if wanted not in plan] == []
