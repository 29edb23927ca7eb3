"""Users, their sessions, tokens and access keys, sign-ins by the identity provider, and failed log-ins.

A token's secret is kept as a hash. An access key's is kept sealed, since checking a signature takes the secret itself.
Both are shown once.
"""

from __future__ import annotations

from functools import partial

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone

from controlplane.accounts.access_key_ids import ACCESS_KEY_ID_LENGTH, new_access_key_id
from controlplane.accounts.roles import Role, Scope
from controlplane.accounts.session_store import SessionStore
from controlplane.core.ids import ID_LENGTH, new_id
from controlplane.core.sealing import open_sealed, seal


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> User:
        """Returns the user of this name; case does not matter, since no two names differ by case alone.

        Raises User.DoesNotExist.
        """
        return self.alias(name=Lower("username")).get(name=(username or "").lower())


class User(AbstractBaseUser):
    id = models.CharField(primary_key=True, max_length=ID_LENGTH, default=partial(new_id, "usr"), editable=False)
    username = models.CharField(max_length=64, unique=True)
    email = models.EmailField(blank=True)
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.VIEWER)
    is_active = models.BooleanField(default=True)
    # Both are empty for a local user. Only both together identify a person at the identity provider.
    issuer = models.CharField(max_length=500, default="", blank=True)
    subject = models.CharField(max_length=255, default="", blank=True)
    confirmed_until = models.DateTimeField(
        null=True, help_text="Of a user of the identity provider: until when its last word lets anything let him in."
    )
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "username"
    objects: UserManager = UserManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("username"), name="one_user_per_name_without_case"),
            models.UniqueConstraint(
                fields=["issuer", "subject"], condition=~Q(subject=""), name="one_user_per_subject"
            ),
        ]

    @property
    def is_local(self) -> bool:
        return not self.subject

    @property
    def has_access(self) -> bool:
        """Whether the user may be let in at all: not disabled and, if from the identity provider, confirmed by it
        recently enough.
        """
        is_confirmed = self.is_local or (self.confirmed_until is not None and self.confirmed_until > timezone.now())
        return self.is_active and is_confirmed


class Session(AbstractBaseSession):
    """A session of the console. It has a reference to its user, so that all sessions of a user can be ended."""

    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="sessions")

    @classmethod
    def get_session_store_class(cls) -> type[SessionStore]:
        return SessionStore


class SignIn(models.Model):
    """A person's sign-in at the identity provider; a session of the console depends on it.

    Its refresh token is used to ask whether the provider still confirms the person.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_ins")
    session = models.OneToOneField(Session, null=True, on_delete=models.SET_NULL, related_name="sign_in")
    provider_session = models.CharField(
        max_length=255, blank=True, db_index=True, help_text="As the provider calls it."
    )
    refresh_sealed = models.TextField(blank=True)
    is_offline = models.BooleanField(default=False, help_text="The refresh token outlives the provider's session.")
    expires_at = models.DateTimeField(help_text="When the session here ends unless the provider confirms it.")
    due_at = models.DateTimeField(db_index=True, help_text="When the provider is asked next.")

    @property
    def secret_context(self) -> str:
        return f"sign-in of {self.user_id}"

    @property
    def refresh_token(self) -> str:
        return (
            open_sealed(self.refresh_sealed, settings.SEALING_KEYS, self.secret_context) if self.refresh_sealed else ""
        )

    @refresh_token.setter
    def refresh_token(self, plain: str) -> None:
        self.refresh_sealed = seal(plain, settings.SEALING_KEYS, self.secret_context) if plain else ""


class Token(models.Model):
    id = models.CharField(primary_key=True, max_length=ID_LENGTH, default=partial(new_id, "tok"), editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16, unique=True)
    secret_hash = models.CharField(max_length=64)
    scope = models.CharField(max_length=8, choices=Scope.choices, help_text="The most this token may do.")
    # Not a foreign key, since this app must not import the fleet's. `reporters_end` ends such tokens with the instance.
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
    """A key with which its owner signs requests of the RPC endpoint.

    It does not expire: it is disabled, then deleted.
    """

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
    """The number of failed log-ins in a row for one name, in lower case, from one address."""

    username = models.CharField(max_length=64)
    address = models.CharField(max_length=64)
    count = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(auto_now=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["username", "address"], name="one_row_per_name_and_address")]
