"""Tasks that expire rows of core."""

from __future__ import annotations

import time
from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from controlplane.core.idempotency import KEEP
from controlplane.core.models import Event, KeptAnswer, RateCount
from controlplane.core.purging import purge
from controlplane.core.rate_counts import WINDOW_SECONDS

KEEP_EVENTS = timedelta(hours=1)


@shared_task(name="core.expire")
def expire() -> None:
    now = timezone.now()
    purge(Event.objects.filter(created_at__lt=now - KEEP_EVENTS), "created_at")
    purge(KeptAnswer.objects.filter(created_at__lt=now - KEEP), "created_at")
    purge(RateCount.objects.filter(window__lt=time.time() // WINDOW_SECONDS - 1), "window")
