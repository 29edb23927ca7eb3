"""Celery tasks of evaluation and the outboxes. Each may run twice, late or not at all without harm."""

from __future__ import annotations

from celery import shared_task

from controlplane.alerts import evaluation, expiring, mailing, notifying
from controlplane.core import clock
from controlplane.core.turns import turn_claim


@shared_task(name="alerts.evaluate")
def evaluate() -> None:
    now = clock.shared_time()
    if turn_claim("alerts", now, 10):
        evaluation.evaluate(now)


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
