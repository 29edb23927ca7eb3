"""Housekeeping of what core keeps."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from controlplane.core.idempotency import KEEP
from controlplane.core.models import KeptAnswer


@shared_task(name="core.kept_answers_expire")
def kept_answers_expire() -> None:
    KeptAnswer.objects.filter(created_at__lt=timezone.now() - KEEP).delete()
