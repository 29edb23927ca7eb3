"""The outbox of channels: a notification is written with the transition that it reports, and sent at least once.

One process sends at a time. Its threads talk to receivers, and only its main thread to the database. Channels do not
wait for each other. A channel gets the notifications of one incident in their order: `resolved` never overtakes
`opened`. After a receiver has accepted none, its channel rests. The next sender takes over what a sender that died had
claimed, so a receiver may get a notification twice, under the same name.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta

import structlog
from django.conf import settings as process_settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from controlplane.alerts.letters import IncidentFacts
from controlplane.alerts.messages import FactsSent, facts_of_test, facts_sent, message_for
from controlplane.alerts.models import Channel, Incident, IncidentEvent, Notification
from controlplane.alerts.outbox import LONGEST_DELAY, MOST_ALONE, MOST_ATTEMPTS, is_due, is_stuck, next_try
from controlplane.alerts.vocabulary import ChannelKind, EventKind, MailState
from controlplane.core import clock
from controlplane.core.connections import connection_give_back
from controlplane.core.ids import new_id
from controlplane.core.sealing import CannotOpen
from controlplane.core.turns import turn_claim, turn_end
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.post import Receiver, ReceiverDelayed, post
from controlplane.settings.selectors import settings_get

REST = timedelta(seconds=30)  # for a channel whose receiver accepted nothing
TURN, LEASE_SECONDS = "notify", 120.0
BATCH_SECONDS = 60.0  # the time limit for one channel's batch
MOST_AT_A_TIME = 500
AT_ONCE = 8
LONGEST_DETAIL = 350  # characters on a timeline, in addition to event and name
UNSENT = (MailState.QUEUED, MailState.SENDING)

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Batch:
    """The notifications to send to a channel now, with the receiver and its secret."""

    channel: Channel
    receiver: Receiver
    secret: str
    notifications: list[Notification]


@dataclass
class Outcome:
    channel: Channel
    sent: list[Notification] = field(default_factory=list)
    failed: list[tuple[list[Notification], GatewayError]] = field(default_factory=list)
    untried: list[Notification] = field(default_factory=list)


def notification_of(
    *, channel: Channel, incident: Incident, transition: str, facts: IncidentFacts, tags: dict[str, str]
) -> Notification:
    sent = facts_sent(
        facts, incident_id=incident.pk, instance_id=incident.instance_id or "", metric=incident.metric, tags=tags
    )
    name = f"{incident.pk}.{transition}.{channel.pk}"
    return Notification(channel=channel, incident=incident, name=name, facts=sent, due_at=timezone.now())


def notifications_queue(notifications: list[Notification]) -> None:
    """Stores notifications in the outbox, which a task sends.

    Must be called in the transaction of the transitions that they report. The name is unique: a second one raises
    IntegrityError.
    """
    Notification.objects.bulk_create(notifications)


def receiver_of(channel: Channel, secret: str, networks: Iterable[str]) -> Receiver:
    """Returns the receiver of a channel's messages.

    For Slack, the secret is the address itself. `networks` are those that an administrator allows.
    """
    url = secret if channel.kind == ChannelKind.SLACK else channel.url
    return Receiver(url, tuple(networks), is_secret=channel.kind != ChannelKind.WEBHOOK)


def channel_test(channel: Channel) -> None:
    """Sends a test message immediately, without the outbox, so that the caller sees the receiver's answer.

    Raises the receiver's GatewayError if it is not accepted.
    """
    secret, networks = channel.secret, settings_get().channel_networks
    receiver = receiver_of(channel, secret, networks)
    name, at = new_id("test"), timezone.now().isoformat()
    facts = facts_of_test(channel.name, f"{process_settings.PUBLIC_URL}/alerts", at, name)
    connection_give_back()
    _post(channel.kind, receiver, secret, [facts], name)
    if channel.kind == ChannelKind.PAGERDUTY:  # resolved at once, else PagerDuty would call the person on duty
        _post(channel.kind, receiver, secret, [{**facts, "event": "resolved"}], name)


def notifications_send() -> int:
    """Sends the notifications of the outbox that are due, to many receivers at a time.

    Returns the number that receivers accepted; 0 also if another process is sending.
    """
    _release_stuck()
    if not turn_claim(TURN, clock.shared_time(), LEASE_SECONDS):
        return 0
    try:
        batches = _claimed_batches()
        connection_give_back()
        with ThreadPoolExecutor(AT_ONCE, "notify") as threads:
            outcomes = list(threads.map(_send, batches))
        for outcome in outcomes:
            _note_outcome(outcome)
        return sum(len(outcome.sent) for outcome in outcomes)
    finally:
        turn_end(TURN, clock.shared_time())


def _claimed_batches() -> list[Batch]:
    by_channel = defaultdict(list)
    for each in _claimed():
        by_channel[each.channel].append(each)
    networks = settings_get().channel_networks
    batches = []
    for channel, notifications in by_channel.items():
        try:
            secret = channel.secret
        except CannotOpen as error:
            log.error("channel_secret_not_opened", channel=channel.pk, detail=error.detail)
            _note_outcome(Outcome(channel, failed=[(notifications, ReceiverDelayed(error.detail))]))
            continue
        batches.append(Batch(channel, receiver_of(channel, secret, networks), secret, notifications))
    return batches


@transaction.atomic
def _claimed() -> list[Notification]:
    now = timezone.now()
    rests = Q(channel__resting_until__gt=now) & Q(channel__resting_until__lt=now + 2 * LONGEST_DELAY)
    earlier = Notification.objects.filter(
        channel=OuterRef("channel"), incident=OuterRef("incident"), pk__lt=OuterRef("pk"), state__in=UNSENT
    )
    due = Notification.objects.select_for_update(of=("self",)).filter(
        is_due(now), ~rests, ~Exists(earlier), state=MailState.QUEUED
    )
    claimed = list(due.select_related("channel").order_by("pk")[:MOST_AT_A_TIME])
    Notification.objects.filter(pk__in=[each.pk for each in claimed]).update(
        state=MailState.SENDING, claimed_at=now, attempts=F("attempts") + 1
    )
    for each in claimed:
        each.attempts += 1
    return claimed


def _send(batch: Batch) -> Outcome:
    """Sends a channel's batch and returns what became of each notification.

    Stops at the first failure that may pass. Runs in a thread, so it must not use the database.
    """
    outcome, until = Outcome(batch.channel), time.monotonic() + BATCH_SECONDS
    messages = _messages(batch)
    for position, each in enumerate(messages):
        if time.monotonic() >= until:
            outcome.untried = _flat(messages[position:])
            break
        try:
            _post(batch.channel.kind, batch.receiver, batch.secret, [it.facts for it in each], each[0].name)
            outcome.sent += each
        except GatewayError as error:
            outcome.failed.append((each, error))
            if not error.is_permanent:
                outcome.untried = _flat(messages[position + 1 :])
                break
        except (
            Exception
            # contained, or the results of the other channels would be lost and all their notifications sent again
        ) as error:
            log.exception("notification_crashed", channel=batch.channel.pk)
            told = ReceiverDelayed(f"{type(error).__name__}: see the worker's log.")
            outcome.failed.append((each, told))
            outcome.untried = _flat(messages[position + 1 :])
            break
    return outcome


def _messages(batch: Batch) -> list[list[Notification]]:
    if batch.channel.kind != ChannelKind.SLACK:
        return [[each] for each in batch.notifications]
    alike = defaultdict(list)
    for each in batch.notifications:
        alike[each.facts["event"]].append(each)
    many = [each for each in alike.values() if len(each) > MOST_ALONE]
    return [*many, *([one] for each in alike.values() if len(each) <= MOST_ALONE for one in each)]


def _flat(messages: Sequence[list[Notification]]) -> list[Notification]:
    return [one for each in messages for one in each]


def _post(kind: str, receiver: Receiver, secret: str, facts: list[FactsSent], name: str) -> None:
    message = message_for(kind, facts, secret, delivery=name, now=int(time.time()))
    post(receiver, message.body, message.headers)


@transaction.atomic
def _note_outcome(outcome: Outcome) -> None:
    now = timezone.now()
    _move(outcome.sent, state=MailState.SENT, sent_at=now, error="")
    _note(outcome.sent, EventKind.NOTIFIED, "")
    _move(outcome.untried, state=MailState.QUEUED, attempts=F("attempts") - 1)
    for notifications, error in outcome.failed:
        _note_failure(notifications, error)
    facts = {"last_sent_at": now, "last_error": ""} if outcome.sent else {}
    if outcome.failed:
        _, error = outcome.failed[-1]
        facts["last_error"] = error.detail[:500]
        if not error.is_permanent:
            facts["resting_until"] = now + max(REST, timedelta(seconds=getattr(error, "again_after_seconds", 0)))
    if facts:
        Channel.objects.filter(pk=outcome.channel.pk).update(**facts)


def _note_failure(notifications: list[Notification], error: GatewayError) -> None:
    over = [each for each in notifications if error.is_permanent or each.attempts >= MOST_ATTEMPTS]
    _move(over, state=MailState.FAILED, error=error.detail[:500])
    _note(over, EventKind.NOT_NOTIFIED, error.detail)
    again = [each for each in notifications if each not in over]
    _move(again, state=MailState.QUEUED, due_at=next_try(again, timezone.now()), error=error.detail[:500])


def _move(notifications: list[Notification], **facts: object) -> None:
    if notifications:
        Notification.objects.filter(pk__in=[each.pk for each in notifications]).update(**facts)


def _note(notifications: list[Notification], kind: EventKind, detail: str) -> None:
    now = timezone.now()
    IncidentEvent.objects.bulk_create(
        IncidentEvent(
            incident_id=each.incident_id, at=now, kind=kind,
            detail=f"{each.facts['event']}, {each.channel.name}" + (f": {detail}"[:LONGEST_DETAIL] if detail else ""),
        )
        for each in notifications
    )  # fmt: skip


def _release_stuck() -> None:
    stuck = Notification.objects.filter(is_stuck(timezone.now()), state=MailState.SENDING)
    stuck.update(state=MailState.QUEUED)
