"""Housekeeping of what core keeps."""

from __future__ import annotations

import time
from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from controlplane.core.idempotency import KEEP
from controlplane.core.models import Event, KeptAnswer, RateCount
from controlplane.core.rate_counts import WINDOW_SECONDS

KEEP_EVENTS = timedelta(hours=1)


@shared_task(name="core.expire")
def expire() -> None:
    Event.objects.filter(created_at__lt=timezone.now() - KEEP_EVENTS).delete()
    KeptAnswer.objects.filter(created_at__lt=timezone.now() - KEEP).delete()
    RateCount.objects.filter(window__lt=time.time() // WINDOW_SECONDS - 1).delete()
