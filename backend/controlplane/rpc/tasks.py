"""Tasks that expire rows of the dialect."""

from __future__ import annotations

from celery import shared_task

from controlplane.rpc.freshness import forget_nonces


@shared_task(name="rpc.expire")
def expire() -> None:
    forget_nonces()
