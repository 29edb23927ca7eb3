from __future__ import annotations

import hashlib
import hmac
import re

from django.db.models import Q, QuerySet
from django.utils import timezone

from controlplane.accounts.models import Session, Token, User
from controlplane.accounts.roles import Role

# fqc_<8 characters that find the row>_<secret>: one pattern that leak scanners can look for.
TOKEN = re.compile(r"(fqc_[a-z0-9]{8})_([A-Za-z0-9_-]{32,64})")


def secret_hash(secret: str) -> str:
    # 256 random bits need no slow hash.
    return hashlib.sha256(secret.encode()).hexdigest()


def token_find(text: str) -> Token | None:
    """Returns the token with this text, with its user.

    None if the text is wrong, the token was revoked or has expired, or its user may not be let in.
    """
    shape = TOKEN.fullmatch(text)
    token = shape and Token.objects.select_related("user").filter(prefix=shape[1], revoked_at=None).first()
    if not shape or not token or not hmac.compare_digest(token.secret_hash, secret_hash(shape[2])):
        return None
    return token if token.user.has_access and token.expires_at > timezone.now() else None


def admin_list() -> QuerySet[User]:
    """Returns active local administrators.

    Users of the identity provider do not count, since they cannot help if it fails.
    """
    return User.objects.filter(role=Role.ADMIN, is_active=True, subject="")


def valid_sessions() -> QuerySet[Session]:
    """Returns the sessions of the console that are valid: those of local users, and those that the identity provider
    still confirms.
    """
    now = timezone.now()
    is_confirmed = Q(user__subject="") | Q(sign_in__expires_at__gt=now)
    return Session.objects.filter(is_confirmed, expire_date__gt=now)


def user_list() -> QuerySet[User]:
    return User.objects.all()


def token_list(user: User, *, everyones: bool) -> QuerySet[Token]:
    tokens = Token.objects.select_related("user").filter(revoked_at=None)
    return tokens if everyones else tokens.filter(user=user)
