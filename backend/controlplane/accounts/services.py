"""Changes to users and tokens, each with its audit event; log-in and change of password with their lock-out."""

from __future__ import annotations

import copy
import secrets
import string
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.utils import timezone

from controlplane.accounts.ending import EndedCounts, OwnCredential, access_end
from controlplane.accounts.making import refuse_too_many_credentials
from controlplane.accounts.models import LoginFailure, Token, User
from controlplane.accounts.passwords import checked_password, normal_password
from controlplane.accounts.roles import Role, covers
from controlplane.accounts.selectors import admin_list, secret_hash
from controlplane.audit.services import audit_record
from controlplane.core.addresses import counted_as
from controlplane.core.errors import Conflict, Denied, Invalid, NameTaken, NotFound
from controlplane.core.etag import ANY_VERSION, IfMatch, row_held
from controlplane.core.one_at_a_time import one_at_a_time
from controlplane.core.request_context import caller, caller_is

FAILURES_ALLOWED = 5
LOCK = timedelta(minutes=15)
TOUCH_EVERY = timedelta(minutes=1)
ADMINS = "admins"  # the lock for changes that may remove the last administrator, or make the first one
PREFIX_ALPHABET = string.ascii_lowercase + string.digits


def _facts(user: User) -> dict[str, Any]:
    facts = {"username": user.username, "email": user.email, "role": user.role, "is_active": user.is_active}
    return facts if user.is_local else {**facts, "issuer": user.issuer, "subject": user.subject}


def user_create(*, username: str, password: str, role: str, email: str = "") -> User:
    user = User(username=username, role=role, email=email)
    user.set_password(checked_password(password, user))  # before the transaction, since hashing is slow
    return user_insert(user)


@transaction.atomic
def user_insert(user: User) -> User:
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError as error:
        raise NameTaken("a user", user.username, field="username") from error
    audit_record("user.created", user, after=_facts(user))
    return user


def _refuse_last_admin(user: User) -> None:
    if user.is_local and user.role == Role.ADMIN and user.is_active and not admin_list().exclude(pk=user.pk).exists():
        raise Conflict(f"{user.username} is the last local administrator: create another one first.", code="last_admin")


def user_update(
    user: User, changes: dict[str, Any], expected: IfMatch = ANY_VERSION, *, keep_tokens: bool = False
) -> tuple[User, EndedCounts]:
    """Changes a user; `changes` may have email, role, is_active and a new password.

    A new password or disabling ends all the user's sessions, tokens and access keys, of which `keep_tokens` spares the
    latter two. Returns the user, and how many were ended.
    """
    _refuse_what_the_provider_says(user, changes)
    others = {name: value for name, value in changes.items() if name != "password"}
    hashed = None
    if "password" in changes:
        _refuse_own_password(user)
        hashed = _hashed(changes["password"], user, others)
    return user_change(user, others, hashed, keep_tokens, expected)


def _hashed(password: str, user: User, changes: dict[str, Any]) -> str:
    """Checks the password against the user as changed, and returns its hash.

    Call it before the transaction, since hashing is slow.
    """
    changed = copy.copy(user)
    for name, value in changes.items():
        setattr(changed, name, value)
    return make_password(checked_password(password, changed))


@transaction.atomic
def user_change(
    user: User, changes: dict[str, Any], hashed: str | None, keep_tokens: bool, expected: IfMatch = ANY_VERSION
) -> tuple[User, EndedCounts]:
    may_end_admin = changes.get("role", Role.ADMIN) != Role.ADMIN or not changes.get("is_active", True)
    if may_end_admin:
        one_at_a_time(ADMINS)
    user = row_held(user, expected)
    before = _facts(user)
    if may_end_admin:
        _refuse_last_admin(user)
    is_disabled = user.is_active and not changes.get("is_active", True)
    for name, value in changes.items():
        setattr(user, name, value)
    if hashed is not None:
        user.password = hashed
    user.version += 1
    user.save()
    is_ending = hashed is not None or is_disabled
    ended = access_end(user, keep_tokens=keep_tokens) if is_ending else EndedCounts()
    facts = {**_facts(user), "password_changed": hashed is not None}
    audit_record("user.updated", user, before=before, after=facts | _ended_facts(ended))
    return user, ended


def _ended_facts(ended: EndedCounts) -> dict[str, int]:
    return {f"ended_{name}": count for name, count in asdict(ended).items() if count}


def _refuse_what_the_provider_says(user: User, changes: dict[str, Any]) -> None:
    said = [name for name in ("email", "password", "role") if name in changes and changes[name] != getattr(user, name)]
    if said and not user.is_local:
        raise Conflict(
            f"{user.username} signs in through the identity provider, which determines: {', '.join(said)}. "
            "Change it there.",
            code="provider_user",
        )


def _refuse_own_password(user: User) -> None:
    """Refuses a new password for the caller: raises Conflict if `user` is the caller.

    One's own password is only changed with `password_change`, which asks for the present one, so that a person who
    finds an open session cannot take the account over.
    """
    if user.pk == caller().actor_id:
        raise Conflict(
            "Change your own password in the form that asks for the current one.",
            code="own_password",
        )


def password_change(
    user: User, *, current_password: str, new_password: str, keep_tokens: bool, asking: OwnCredential, address: str
) -> EndedCounts:
    """Changes the caller's own password after checking the current one.

    Ends the user's other sessions, and, unless `keep_tokens`, the tokens and access keys; what the request itself uses
    (`asking`) is kept. Raises Invalid if the current password is wrong, Denied if there were too many failures from
    `address`.
    """
    proven = _proven(user.username, current_password, address, "user.password_refused")
    if not proven:
        raise Invalid.field("current_password", "this is not your current password", "wrong_password")
    user.set_password(checked_password(new_password, user, "new_password"))
    return _password_save(user, proven.password, keep_tokens, asking)


@transaction.atomic
def _password_save(user: User, before: str, keep_tokens: bool, asking: OwnCredential) -> EndedCounts:
    now = row_held(user)
    if now.password != before:
        raise Conflict("Your password has been changed in the meantime: use the new one.", code="own_password_moved")
    user.version = now.version + 1
    user.save(update_fields=["password", "version"])
    ended = access_end(user, keep_tokens=keep_tokens, but=asking)
    audit_record("user.password_changed", user, after=_ended_facts(ended))
    return ended


@transaction.atomic
def user_delete(user: User, expected: IfMatch = ANY_VERSION) -> None:
    one_at_a_time(ADMINS)
    user = row_held(user, expected)
    _refuse_last_admin(user)
    audit_record("user.deleted", user, before=_facts(user))
    user.delete()


@transaction.atomic
def token_create(
    user: User, *, name: str, scope: str, expires_at: datetime | None = None, instance_id: str = ""
) -> tuple[Token, str]:
    """Returns a new token and its text, which is shown only this once.

    `instance_id` is the instance that a reporter's token is for, else empty. Raises Denied if the user's role does not
    cover the scope.
    """
    if not covers(user.role, scope):
        raise Denied(f"scope: your role is {user.role}, so a token of scope {scope} cannot be created by you.")
    latest = timezone.now() + timedelta(days=settings.TOKEN_LIFETIME_DAYS)
    expires_at = expires_at or latest
    if not timezone.now() < expires_at <= latest:
        raise Invalid.field("expires_at", f"write a time from now to {settings.TOKEN_LIFETIME_DAYS} days from now")
    refuse_too_many_credentials()
    prefix = "fqc_" + "".join(secrets.choice(PREFIX_ALPHABET) for _ in range(8))
    secret = secrets.token_urlsafe(32)
    facts = {"name": name, "scope": scope, **({"instance_id": instance_id} if instance_id else {})}
    token = Token.objects.create(
        user=user, prefix=prefix, secret_hash=secret_hash(secret), expires_at=expires_at, **facts
    )
    audit_record("token.created", token, after={**facts, "expires_at": expires_at.isoformat()})
    return token, f"{prefix}_{secret}"


@transaction.atomic
def token_revoke(token: Token) -> None:
    if not Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        raise NotFound(f"{token.pk} has been revoked in the meantime.")
    audit_record("token.revoked", token, before={"name": token.name, "scope": token.scope})


def reporters_end(instance_id: str) -> None:
    """Revokes the reporter tokens of an instance.

    Call it in the transaction that deletes the instance, whose audit event covers this.
    """
    Token.objects.filter(instance_id=instance_id, revoked_at=None).update(revoked_at=timezone.now())


def token_touch(token: Token) -> None:
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > TOUCH_EVERY:
        Token.objects.filter(pk=token.pk).update(last_used_at=now)


def login_check(username: str, password: str, address: str) -> User:
    """Returns the user with this name and password, and records the log-in.

    Raises Denied otherwise; after five failures in a row the name is locked for that address.
    """
    if not may_use_password(username):
        raise Denied(
            f"Log-in with a password is disabled: use {settings.IDENTITY_PROVIDER.name}.", code="passwords_off"
        )
    user = _proven(username, password, address, "login.failed")
    if user is None:
        raise Denied("The user name or password is wrong.", code="wrong_credentials")
    _log_in(user)
    return user


def may_use_password(username: str) -> bool:
    """Returns whether a user of this name may log in with a password here.

    The local administrator always may, since the identity provider can fail.
    """
    return settings.HAS_PASSWORDS or username.lower() == settings.LOCAL_ADMIN.lower()


def _proven(username: str, password: str, address: str, failed: str) -> User | None:
    """Returns the user with this name and password, or None after counting a failure, which is audited as the action
    `failed`.

    Raises Denied if the name is locked for this address.
    """
    name, address = username.lower(), counted_as(address)
    _refuse_locked(LoginFailure.objects.filter(username=name, address=address).first())
    user = _authenticated(name, password)
    if user is None:
        _count_failure(name, address, failed)
    else:
        _forget_failures(name, address)
    return user


@transaction.atomic
def _forget_failures(username: str, address: str) -> None:
    """Removes the recorded failures after a correct password.

    Checks the lock again and raises Denied: of many parallel guesses, a correct one that follows five failures is
    refused.
    """
    failures = LoginFailure.objects.select_for_update().filter(username=username, address=address)
    _refuse_locked(failures.first())
    failures.delete()


def _refuse_locked(failure: LoginFailure | None) -> None:
    if failure and failure.count >= FAILURES_ALLOWED and _is_recent(failure):
        raise Denied(f"Too many failures for {failure.username}: wait {LOCK.seconds // 60} minutes.", code="locked_out")


def _authenticated(username: str, password: str) -> User | None:
    """Returns the user with this name and password, or None.

    Tries the normalised password, then the text as given: older passwords were not normalised.
    """
    for text in dict.fromkeys((normal_password(password), password)):
        user = authenticate(None, username=username, password=text)
        if isinstance(user, User):
            return user
    return None


def _is_recent(failure: LoginFailure) -> bool:
    """Returns whether the last failure is less than LOCK away, so that the failures so far still count.

    `abs` limits the lock also if the clock was set back and the failure lies ahead.
    """
    return abs(timezone.now() - failure.last_at) < LOCK


@transaction.atomic
def _count_failure(username: str, address: str, action: str) -> None:
    row, _ = LoginFailure.objects.select_for_update().get_or_create(username=username, address=address)
    row.count = row.count + 1 if _is_recent(row) else 1
    row.save()
    audit_record(action, row, after={"username": username})


@transaction.atomic
def _log_in(user: User) -> None:
    caller_is(user.username, user.pk, user.role)
    audit_record("login.succeeded", user)


@transaction.atomic
def logout_record(user: User) -> None:
    audit_record("login.ended", user)
