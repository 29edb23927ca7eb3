"""Housekeeping of what core keeps."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from controlplane.core.idempotency import KEEP
from controlplane.core.models import Event, KeptAnswer

KEEP_EVENTS = timedelta(hours=1)


@shared_task(name="core.expire")
def expire() -> None:
    Event.objects.filter(created_at__lt=timezone.now() - KEEP_EVENTS).delete()
    KeptAnswer.objects.filter(created_at__lt=timezone.now() - KEEP).delete()
