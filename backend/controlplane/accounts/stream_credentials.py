"""The credential that a stream was opened with, and whether it is still valid: a live token or session of an active
user with the same role.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from django.utils import timezone

from controlplane.accounts.models import Token, User
from controlplane.accounts.selectors import valid_sessions

if TYPE_CHECKING:
    from rest_framework.request import Request


class Holder(NamedTuple):
    """The credential that an event stream was opened with, a token or a session, and the role that its user had."""

    user_id: str
    role: str
    token_id: str  # empty for a session
    session_key: str


def holder_of(request: Request) -> Holder:
    """Returns the credential that this request was authenticated with, as a `Holder`."""
    user, token = request.user, request.auth
    if isinstance(token, Token):
        return Holder(user.pk, user.role, token.pk, "")
    return Holder(user.pk, user.role, "", request._request.session.session_key or "")


def still_valid(holders: Collection[Any]) -> set[Any]:
    """Returns those of the given holders (`Holder`) that are still valid: the token has not been revoked and has not
    expired, or the session has not ended, and the user is still active and has the same role.

    Takes three queries for any number of holders, since it is called often.
    """
    now = timezone.now()
    users = User.objects.filter(pk__in={each.user_id for each in holders})
    tokens = Token.objects.filter(pk__in={each.token_id for each in holders}, revoked_at=None, expires_at__gt=now)
    sessions = valid_sessions().filter(session_key__in={each.session_key for each in holders})
    roles = {(user.pk, user.role) for user in users if user.has_access}
    keys = set(tokens.values_list("pk", flat=True)) | set(sessions.values_list("session_key", flat=True))
    return {
        each for each in holders if (each.user_id, each.role) in roles and (each.token_id or each.session_key) in keys
    }
