"""Tasks that expire rows of accounts, and that confirm users with the identity provider."""

from __future__ import annotations

from celery import shared_task

from controlplane.accounts.expiring import access_expire
from controlplane.accounts.sign_ins import sign_ins_confirm


@shared_task(name="accounts.expire")
def expire() -> None:
    access_expire()


@shared_task(name="accounts.confirm")
def confirm() -> None:
    sign_ins_confirm()
