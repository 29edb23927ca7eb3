"""Changes to users and tokens, each with its audit event; and log-in with its lock-out."""

from __future__ import annotations

import secrets
import string
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from controlplane.accounts.models import LoginFailure, Token, User
from controlplane.accounts.roles import Role, covers
from controlplane.accounts.selectors import secret_hash
from controlplane.audit.services import audit_record
from controlplane.core.errors import Conflict, Denied, FieldError, Invalid, NameTaken
from controlplane.core.request_context import caller_is

FAILURES_ALLOWED = 5
LOCK = timedelta(minutes=15)
TOUCH_EVERY = timedelta(minutes=1)
PREFIX_ALPHABET = string.ascii_lowercase + string.digits


def _facts(user: User) -> dict[str, Any]:
    return {"username": user.username, "email": user.email, "role": user.role, "is_active": user.is_active}


def _checked_password(password: str, user: User) -> str:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid(
            f"password: {' '.join(error.messages)}",
            errors=[FieldError("password", "weak", message) for message in error.messages],
        ) from error
    return password


@transaction.atomic
def user_create(*, username: str, password: str, role: str, email: str = "") -> User:
    if User.objects.filter(username=username).exists():
        raise NameTaken("a user", username, field="username")
    user = User(username=username, role=role, email=email)
    user.set_password(_checked_password(password, user))
    user.save()
    audit_record("user.created", user, after=_facts(user))
    return user


def _refuse_last_admin(user: User) -> None:
    others = User.objects.filter(role=Role.ADMIN, is_active=True).exclude(pk=user.pk)
    if user.role == Role.ADMIN and user.is_active and not others.exists():
        raise Conflict(f"{user.username} is the last admin: make another one first.", code="last_admin")


@transaction.atomic
def user_update(user: User, changes: dict[str, Any]) -> User:
    before = _facts(user)
    if changes.get("role", Role.ADMIN) != Role.ADMIN or not changes.get("is_active", True):
        _refuse_last_admin(user)
    password = changes.pop("password", None)
    for name, value in changes.items():
        setattr(user, name, value)
    if password:
        user.set_password(_checked_password(password, user))
    user.version += 1
    user.save()
    audit_record("user.updated", user, before=before, after={**_facts(user), "password_changed": bool(password)})
    return user


@transaction.atomic
def user_delete(user: User) -> None:
    _refuse_last_admin(user)
    audit_record("user.deleted", user, before=_facts(user))
    user.delete()


@transaction.atomic
def token_create(user: User, *, name: str, scope: str, expires_at: datetime | None = None) -> tuple[Token, str]:
    """The token and its text, which is shown this once."""
    if not covers(user.role, scope):
        raise Denied(f"scope: your role is {user.role}, so a token of scope {scope} is not yours to make.")
    latest = timezone.now() + timedelta(days=settings.TOKEN_LIFETIME_DAYS)
    expires_at = expires_at or latest
    if not timezone.now() < expires_at <= latest:
        raise Invalid.field("expires_at", f"write a time from now to {settings.TOKEN_LIFETIME_DAYS} days from now")
    prefix = "fqc_" + "".join(secrets.choice(PREFIX_ALPHABET) for _ in range(8))
    secret = secrets.token_urlsafe(32)
    token = Token.objects.create(
        user=user, name=name, prefix=prefix, secret_hash=secret_hash(secret), scope=scope, expires_at=expires_at
    )
    audit_record("token.created", token, after={"name": name, "scope": scope, "expires_at": expires_at.isoformat()})
    return token, f"{prefix}_{secret}"


@transaction.atomic
def token_revoke(token: Token) -> None:
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    audit_record("token.revoked", token, before={"name": token.name, "scope": token.scope})


def token_touch(token: Token) -> None:
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > TOUCH_EVERY:
        Token.objects.filter(pk=token.pk).update(last_used_at=now)


def login_check(request: Any, username: str, password: str, address: str) -> User:
    """The user, or Denied. After five failures in a row a name is locked for the address that failed."""
    failure = LoginFailure.objects.filter(username=username, address=address).first()
    if failure and failure.count >= FAILURES_ALLOWED and _is_recent(failure):
        raise Denied(f"Too many failures for {username}: wait {LOCK.seconds // 60} minutes.", code="locked_out")
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        _count_failure(username, address)
        raise Denied("The name or the password is wrong.", code="wrong_credentials")
    _log_in(user, address)
    return user


def _is_recent(failure: LoginFailure) -> bool:
    """Also of a failure that lies ahead, since the clock was set back: the lock lasts no longer for that."""
    return abs(timezone.now() - failure.last_at) < LOCK


@transaction.atomic
def _count_failure(username: str, address: str) -> None:
    row, _ = LoginFailure.objects.get_or_create(username=username, address=address)
    if not _is_recent(row):
        LoginFailure.objects.filter(pk=row.pk).update(count=0)
    LoginFailure.objects.filter(pk=row.pk).update(count=F("count") + 1, last_at=timezone.now())
    audit_record("login.failed", row, after={"username": username})


@transaction.atomic
def _log_in(user: User, address: str) -> None:
    LoginFailure.objects.filter(username=user.username, address=address).delete()
    caller_is(user.username, user.pk)
    audit_record("login.succeeded", user)


@transaction.atomic
def logout_record(user: User) -> None:
    audit_record("login.ended", user)
