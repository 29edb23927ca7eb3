"""Celery tasks of evaluation and the outboxes. Each may run twice, late or not at all without harm."""

from __future__ import annotations

from celery import shared_task

from controlplane.alerts import evaluation, expiring, mailing, notifying
from controlplane.core import clock
from controlplane.core.turns import turn_claim, turn_end

TURN = "alerts"
LEASE_SECONDS = 30.0
# A bit less than the scheduler's period, so that a task that comes early is not left out.
LEAST_SECONDS_BETWEEN = evaluation.LOOK_SECONDS - 1.0


@shared_task(name="alerts.evaluate")
def evaluate() -> None:
    now = clock.shared_time()
    if turn_claim(TURN, now, LEASE_SECONDS):
        try:
            evaluation.evaluate(now)
        finally:
            turn_end(TURN, now + LEAST_SECONDS_BETWEEN)


@shared_task(name="alerts.send_mails")
def send_mails() -> None:
    mailing.mails_send()


@shared_task(name="alerts.notify")
def notify() -> None:
    notifying.notifications_send()


@shared_task(name="alerts.expire")
def expire() -> None:
    expiring.mails_expire()
    expiring.incidents_expire()
