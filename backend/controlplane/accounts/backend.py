"""The authentication backend: which users a password or a session may let in."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend


class AccountBackend(ModelBackend):
    def user_can_authenticate(self, user: Any) -> bool:
        return user is not None and user.has_access
