"""Users, their sessions, tokens and access keys, and failed log-ins.

A token's secret is kept as a hash. An access key's is kept sealed, since checking a signature takes the secret itself.
Both are shown once.
"""

from __future__ import annotations

from functools import partial

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models.functions import Lower

from controlplane.accounts.access_key_ids import ACCESS_KEY_ID_LENGTH, new_access_key_id
from controlplane.accounts.roles import Role, Scope
from controlplane.accounts.session_store import SessionStore
from controlplane.core.ids import ID_LENGTH, new_id
from controlplane.core.sealing import open_sealed, seal


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> User:
        """Names differ by more than case, so whoever logs in need not keep to it."""
        return self.alias(name=Lower("username")).get(name=(username or "").lower())


class User(AbstractBaseUser):
    id = models.CharField(primary_key=True, max_length=ID_LENGTH, default=partial(new_id, "usr"), editable=False)
    username = models.CharField(max_length=64, unique=True)
    email = models.EmailField(blank=True)
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.VIEWER)
    is_active = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "username"
    objects: UserManager = UserManager()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("username"), name="one_user_per_name_without_case")]


class Session(AbstractBaseSession):
    """Of the console. Knows its user, so that all sessions of one can be ended."""

    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="sessions")

    @classmethod
    def get_session_store_class(cls) -> type[SessionStore]:
        return SessionStore


class Token(models.Model):
    id = models.CharField(primary_key=True, max_length=ID_LENGTH, default=partial(new_id, "tok"), editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16, unique=True)
    secret_hash = models.CharField(max_length=64)
    scope = models.CharField(max_length=8, choices=Scope.choices, help_text="The most this token may do.")
    # No reference: instances are above accounts. It ends with the instance (`reporters_end`).
    instance_id = models.CharField(
        max_length=ID_LENGTH,
        default="",
        blank=True,
        db_index=True,
        help_text="Of a reporter: the instance whose near caches may report. Empty for the others.",
    )
    expires_at = models.DateTimeField(db_index=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True, db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)


class AccessKey(models.Model):
    """Signs requests of the RPC endpoint for its owner. Does not expire: it is disabled, then deleted."""

    id = models.CharField(primary_key=True, max_length=ACCESS_KEY_ID_LENGTH, default=new_access_key_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="access_keys")
    name = models.CharField(max_length=100)
    secret_sealed = models.TextField()
    scope = models.CharField(max_length=8, choices=Role.choices, help_text="The most this key may do.")
    is_active = models.BooleanField(default=True, help_text="A disabled key is refused until it is enabled again.")
    last_used_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    @property
    def secret_context(self) -> str:
        return f"access key {self.pk}"

    @property
    def secret(self) -> str:
        return open_sealed(self.secret_sealed, settings.SEALING_KEYS, self.secret_context)

    @secret.setter
    def secret(self, plain: str) -> None:
        self.secret_sealed = seal(plain, settings.SEALING_KEYS, self.secret_context)


class LoginFailure(models.Model):
    """Failures in a row of one name, in lower case, from one address."""

    username = models.CharField(max_length=64)
    address = models.CharField(max_length=64)
    count = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(auto_now=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["username", "address"], name="one_row_per_name_and_address")]
