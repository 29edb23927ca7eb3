"""Makes an administrator if there is none: at the first start, and when the last one was lost."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from django.contrib.auth.hashers import make_password
from django.db import transaction

from controlplane.accounts.models import User
from controlplane.accounts.roles import Role
from controlplane.accounts.selectors import admin_list
from controlplane.accounts.services import ADMINS, user_change, user_insert
from controlplane.core.one_at_a_time import one_at_a_time


def admin_ensure(username: str, keep: Callable[[str], None]) -> None:
    """Makes a local administrator with a random password, unless there is an active one.

    `keep` stores the password before the account is visible, so that a crash in between leaves no account with an
    unknown password.
    """
    if admin_list().exists():
        return
    password = secrets.token_urlsafe(18)
    hashed = make_password(password)  # before the transaction, since hashing is slow
    with transaction.atomic():
        one_at_a_time(ADMINS)
        if not admin_list().exists():
            keep(password)
            _admin_make(username, hashed)


def _admin_make(username: str, hashed: str) -> None:
    """Makes the administrator with this hashed password.

    If an account of this name lost the role or was disabled, it becomes the administrator, and its old sessions and
    tokens are ended.
    """
    user = User.objects.filter(username__iexact=username).first()
    if user is None:
        user_insert(User(username=username, role=Role.ADMIN, password=hashed))
    else:
        user_change(user, {"role": Role.ADMIN, "is_active": True}, hashed, keep_tokens=False)
