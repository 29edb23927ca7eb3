"""Changes to access keys, each with its audit event."""

from __future__ import annotations

import secrets
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.accounts.making import refuse_too_many_credentials
from controlplane.accounts.models import AccessKey, User
from controlplane.accounts.roles import covers
from controlplane.accounts.services import TOUCH_EVERY
from controlplane.audit.services import audit_record
from controlplane.core.errors import Denied
from controlplane.core.etag import row_held

SECRET_PREFIX = "fqcsk_"  # noqa: S105 - one pattern that leak scanners can look for


def _facts(key: AccessKey) -> dict[str, Any]:
    return {"name": key.name, "scope": key.scope, "is_active": key.is_active, "username": key.user.username}


def scope_check(held: str, scope: str) -> None:
    """Raises Denied if an access key of this scope would have more rights than `held`, the role that the user acts
    with.
    """
    if not covers(held, scope):
        raise Denied(f"scope: you act as {held} here, so an access key of scope {scope} cannot be used by you.")


@transaction.atomic
def access_key_create(user: User, *, name: str, scope: str, held: str) -> tuple[AccessKey, str]:
    """Returns a new access key and its secret, which is shown only this once.

    `held` is the role that the user acts with; raises Denied if the scope is above it.
    """
    scope_check(held, scope)
    refuse_too_many_credentials()
    key = AccessKey(user=user, name=name, scope=scope)
    secret = SECRET_PREFIX + secrets.token_urlsafe(32)
    key.secret = secret
    key.save()
    audit_record("access_key.created", key, after=_facts(key))
    return key, secret


@transaction.atomic
def access_key_update(key: AccessKey, changes: dict[str, Any], *, held: str) -> AccessKey:
    key = row_held(key)
    before = _facts(key)
    if not (key.is_active and changes.get("is_active") is False):
        refuse_too_many_credentials()
    if changes.get("is_active"):
        scope_check(held, key.scope)
    for name, value in changes.items():
        setattr(key, name, value)
    key.save(update_fields=list(changes))
    audit_record("access_key.updated", key, before=before, after=_facts(key))
    return key


@transaction.atomic
def access_key_delete(key: AccessKey) -> None:
    key = row_held(key)
    audit_record("access_key.deleted", key, before=_facts(key))
    key.delete()


def access_key_touch(key: AccessKey) -> None:
    now = timezone.now()
    if key.last_used_at is None or now - key.last_used_at > TOUCH_EVERY:
        AccessKey.objects.filter(pk=key.pk).update(last_used_at=now)
