"""Sign-ins by the identity provider: which user is let in with which role, and how long the provider confirms it.

A user is identified by issuer and subject, never by a name or an e-mail address, which other people may have here or
get at the provider. The groups decide the role each time that the provider is asked. A sign-in that the provider ends,
or does not confirm for an hour, is no longer valid.
"""

from __future__ import annotations

import hashlib
import re
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from controlplane.accounts.models import Session, SignIn, User
from controlplane.accounts.roles import Role
from controlplane.accounts.services import user_change, user_insert
from controlplane.accounts.sessions import session_facts, session_id
from controlplane.audit.services import audit_record
from controlplane.core.errors import Denied, Problem
from controlplane.core.request_context import acting_as, caller_is
from controlplane.gateway.identity_provider import (
    IdentityProof,
    LoggedOut,
    ProviderSessionEnded,
    ProviderUnavailable,
    confirmed,
)

log = structlog.get_logger(__name__)
PROVIDER = "identity provider"  # the actor in the audit trail
UNCONFIRMED_AT_MOST = timedelta(hours=1)
CLAIMED_FOR = timedelta(minutes=1)  # for asking the provider about a sign-in, which takes less
MOST_AT_ONCE = 200
OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9_.@-]+")
REFUSALS = {
    "no_role": "Your groups at the identity provider give you no role here: ask an administrator.",
    "user_disabled": "Your user is disabled here: ask an administrator.",
}


def role_of(groups: frozenset[str]) -> str | None:
    """Returns the highest role that one of the person's groups gives by the settings of the identity provider, or None
    if none does: the person is then not let in.
    """
    wanted = settings.IDENTITY_PROVIDER.groups
    return next((str(role) for role in (Role.ADMIN, Role.OPERATOR, Role.VIEWER) if groups & {*wanted[role]}), None)


def sign_in(proof: IdentityProof) -> User:
    """Returns the user whom the provider's proof is about; makes one at the first sign-in, and stores the role that the
    groups give.

    Raises Denied if they give none or the user is disabled.
    """
    caller_is(PROVIDER, "", "")
    user, role = _known(proof), role_of(proof.groups)
    if role is None or (user and not user.is_active):
        raise _refused(proof, user, "no_role" if role is None else "user_disabled")
    return _let_in(proof, user, role)


@transaction.atomic
def sign_in_keep(user: User, session_key: str, proof: IdentityProof) -> None:
    """Stores the sign-in for the new session, which ends with it, and deletes earlier ones of the user that have no
    session any more.
    """
    user.sign_ins.filter(session=None).delete()
    sign_in = SignIn(user=user, session_id=session_key, provider_session=proof.session_id)
    _take(sign_in, proof)
    sign_in.save()


def sign_ins_confirm() -> None:
    """Asks the identity provider about each sign-in that is due, up to MOST_AT_ONCE, and stops when the provider cannot
    be asked.

    Sessions that it does not confirm end.
    """
    if settings.IDENTITY_PROVIDER.issuer:
        due = SignIn.objects.select_related("user", "session").filter(due_at__lte=timezone.now()).order_by("due_at")
        with acting_as(PROVIDER):
            all(_confirm(each) for each in due[:MOST_AT_ONCE])


@transaction.atomic
def provider_logged_out(told: LoggedOut) -> int:
    """Ends the sessions here that the identity provider has ended. Returns their number."""
    caller_is(PROVIDER, "", "")
    found = SignIn.objects.select_related("user", "session").filter(user__issuer=settings.IDENTITY_PROVIDER.issuer)
    if told.subject:
        found = found.filter(user__subject=told.subject)
    if told.session_id:
        found = found.filter(provider_session=told.session_id)
    ending = [each for each in found if each.session]
    for each in ending:
        _session_end(each, "logged out there", is_kept=each.is_offline)
    return len(ending)


def _known(proof: IdentityProof) -> User | None:
    return User.objects.filter(issuer=settings.IDENTITY_PROVIDER.issuer, subject=proof.subject).first()


def _refused(proof: IdentityProof, user: User | None, code: str) -> Denied:
    facts = {"issuer": settings.IDENTITY_PROVIDER.issuer, "subject": proof.subject, "reason": code}
    with transaction.atomic():
        audit_record("login.refused", user or User(pk="", username=proof.username[:64]), after=facts)
        if user:
            _access_end(user, code)
    return Denied(REFUSALS[code], code=code)


@transaction.atomic
def _let_in(proof: IdentityProof, user: User | None, role: str) -> User:
    user = _agreeing(user, proof, role) if user else user_insert(_new(proof, role))
    _confirmed(user)
    caller_is(user.username, user.pk, user.role)
    audit_record("login.succeeded", user, after={"issuer": user.issuer, "subject": user.subject})
    return user


def _new(proof: IdentityProof, role: str) -> User:
    user = User(username=_free_name(proof), role=role, email=proof.email)
    user.issuer, user.subject = settings.IDENTITY_PROVIDER.issuer, proof.subject
    user.set_unusable_password()
    return user


def _free_name(proof: IdentityProof) -> str:
    """Returns a name for a new user that is not taken here: the provider's, or that with a part added that the person
    cannot choose.
    """
    name = OTHER_CHARACTERS.sub("-", proof.username).strip("-_.@")[:48] or "user"
    if len(name) > 1 and not User.objects.filter(username__iexact=name).exists():
        return name
    return f"{name}.{hashlib.sha256(f'{settings.IDENTITY_PROVIDER.issuer} {proof.subject}'.encode()).hexdigest()[:12]}"


def _agreeing(user: User, proof: IdentityProof, role: str) -> User:
    wanted = {"role": role, **({"email": proof.email} if proof.email else {})}
    changes = {name: value for name, value in wanted.items() if getattr(user, name) != value}
    return user_change(user, changes, None, keep_tokens=True)[0] if changes else user


def _confirmed(user: User) -> None:
    user.confirmed_until = timezone.now() + timedelta(hours=settings.IDENTITY_PROVIDER.token_hours)
    user.save(update_fields=["confirmed_until"])


def _take(sign_in: SignIn, proof: IdentityProof) -> None:
    now = timezone.now()
    sign_in.refresh_token, sign_in.is_offline = proof.refresh_token, proof.is_offline
    sign_in.expires_at = min(proof.good_until or now + UNCONFIRMED_AT_MOST, now + UNCONFIRMED_AT_MOST)
    sign_in.due_at = _due(now, sign_in.expires_at) if proof.refresh_token else sign_in.expires_at


def _due(now: datetime, expires_at: datetime) -> datetime:
    return now + min(timedelta(seconds=settings.IDENTITY_PROVIDER.refresh_seconds), (expires_at - now) / 2)


def _confirm(sign_in: SignIn) -> bool:
    """Asks the provider about a sign-in, and renews or ends it.

    False if the provider could not be asked; the sign-in then stays as it is until it expires.
    """
    now = timezone.now()
    if not SignIn.objects.filter(pk=sign_in.pk, due_at=sign_in.due_at).update(due_at=now + CLAIMED_FOR):
        return True  # another worker is at it
    if not sign_in.refresh_token or not (sign_in.session or sign_in.is_offline):
        _over(sign_in, "it cannot be renewed")
        return True
    try:
        proof = confirmed(sign_in.refresh_token)
    except ProviderSessionEnded:
        _over(sign_in, "ended there")
    except ProviderUnavailable:
        return False
    except Problem as problem:
        log.warning("sign_in_not_confirmed", user=sign_in.user_id, error=problem.detail)
    else:
        _renew(sign_in, proof)
    return True


@transaction.atomic
def _renew(sign_in: SignIn, proof: IdentityProof) -> None:
    user, role = sign_in.user, role_of(proof.groups)
    if proof.subject != user.subject or role is None or not user.is_active:
        _access_end(user, "no_role" if role is None else "user_disabled")
        return
    _take(sign_in, proof)
    kept = ("refresh_sealed", "is_offline", "expires_at", "due_at")
    # There is no row if the session has ended in the meantime.
    SignIn.objects.filter(pk=sign_in.pk).update(**{name: getattr(sign_in, name) for name in kept})
    _confirmed(_agreeing(user, proof, role))


@transaction.atomic
def _over(sign_in: SignIn, reason: str) -> None:
    """Ends a sign-in and its session.

    If it had an offline token and no other sign-in is left, the user's tokens and access keys are refused, too.
    """
    user, is_offline = sign_in.user, sign_in.is_offline
    _session_end(sign_in, reason, is_kept=False)
    if is_offline and not user.sign_ins.exists():
        _access_end(user, reason)


def _session_end(sign_in: SignIn, reason: str, *, is_kept: bool) -> None:
    session = sign_in.session
    if session:
        facts = {"session": session_id(session.session_key), **session_facts(session)}
        audit_record("user.session_ended", sign_in.user, before=facts, after=_why(sign_in.user, reason))
        Session.objects.filter(pk=session.pk).delete()
    if not is_kept:
        SignIn.objects.filter(pk=sign_in.pk).delete()


def _access_end(user: User, reason: str) -> None:
    """Deletes the user's sessions. Tokens and access keys are refused until the provider confirms the user again."""
    had_access = user.has_access
    user.confirmed_until = timezone.now()
    user.save(update_fields=["confirmed_until"])
    user.sessions.all().delete()
    user.sign_ins.all().delete()
    if had_access:
        audit_record("user.access_ended", user, after=_why(user, reason))


def _why(user: User, reason: str) -> dict[str, Any]:
    return {"issuer": user.issuer, "subject": user.subject, "reason": reason}
