"""Celery's doors to evaluation and the outbox. Both may run twice, late or not at all."""

from __future__ import annotations

import time

from celery import shared_task

from controlplane.alerts import evaluation, mailing
from controlplane.metrics.clock import turn_claim


@shared_task(name="alerts.evaluate")
def evaluate() -> None:
    now = time.time()
    if turn_claim("alerts", now, 10):
        evaluation.evaluate(now)


@shared_task(name="alerts.send_mails")
def send_mails() -> None:
    mailing.mails_send()


@shared_task(name="alerts.expire_mails")
def expire_mails() -> None:
    mailing.mails_expire()
