"""A user's console sessions, tokens and access keys, and how to end them."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from controlplane.accounts.models import Token, User


@dataclass(frozen=True)
class OwnCredential:
    """The session or token that the request itself uses; None if it uses none.

    It is kept when the user's others end.
    """

    session_key: str | None = None
    token: Token | None = None


@dataclass(frozen=True)
class EndedCounts:
    sessions: int = 0
    tokens: int = 0
    access_keys: int = 0


NONE_ASKING = OwnCredential()


def access_end(user: User, *, keep_tokens: bool, but: OwnCredential = NONE_ASKING) -> EndedCounts:
    """Ends a user's console sessions and, unless `keep_tokens`, all tokens and access keys, except those in `but`.

    Returns how many were ended. Call it in the transaction of the change that is the reason; its audit event reports
    the numbers.
    """
    sessions, _ = user.sessions.exclude(session_key=but.session_key or "").delete()
    user.sign_ins.filter(session=None).delete()
    if keep_tokens:
        return EndedCounts(sessions)
    now = timezone.now()
    others = user.tokens.exclude(pk=but.token.pk) if but.token else user.tokens.all()
    live = others.filter(revoked_at=None, expires_at__gt=now).values_list("pk", flat=True)
    tokens = Token.objects.filter(pk__in=list(live)).update(revoked_at=now)
    access_keys, _ = user.access_keys.all().delete()
    return EndedCounts(sessions, tokens, access_keys)
