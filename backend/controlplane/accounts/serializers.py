from __future__ import annotations

from typing import Any

from django.core.validators import RegexValidator
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from controlplane.accounts.ending import EndedCounts
from controlplane.accounts.models import Session, Token, User
from controlplane.accounts.passwords import LONGEST_PASSWORD
from controlplane.accounts.roles import Role
from controlplane.accounts.sessions import session_facts, session_id

NAME = RegexValidator(r"\A[A-Za-z0-9][A-Za-z0-9_.@-]{1,63}\Z", "2 to 64 letters, digits or _ . @ -")


def password_field(**options: Any) -> serializers.CharField:
    return serializers.CharField(
        max_length=LONGEST_PASSWORD,
        write_only=True,
        trim_whitespace=False,
        help_text="12 to 256 characters of any kind; none that attackers try first, none made of the user's names.",
        **options,
    )


class UserSerializer(serializers.ModelSerializer[User]):
    email = serializers.CharField(read_only=True, help_text="The user's e-mail address, which may be empty.")
    issuer = serializers.CharField(
        read_only=True,
        help_text="The address of the identity provider that the user comes from; empty for a local user.",
    )
    subject = serializers.CharField(
        read_only=True, help_text="The identity provider's identifier for the user; empty for a local user."
    )

    class Meta:
        model = User
        fields: tuple[str, ...] = (
            "id",
            "username",
            "email",
            "role",
            "is_active",
            "issuer",
            "subject",
            "confirmed_until",
            "version",
            "last_login",
            "created_at",
        )
        read_only_fields = fields


class UserCreateSerializer(serializers.Serializer[User]):
    username = serializers.CharField(max_length=64, validators=[NAME])
    password = password_field()
    role = serializers.ChoiceField(choices=Role.choices)
    email = serializers.EmailField(required=False, allow_blank=True, default="")


class UserUpdateSerializer(serializers.Serializer[User]):
    password = password_field(required=False)
    role = serializers.ChoiceField(choices=Role.choices, required=False)
    email = serializers.EmailField(required=False, allow_blank=True)
    is_active = serializers.BooleanField(required=False)
    keep_tokens = serializers.BooleanField(
        required=False,
        help_text="A new password, and `is_active: false`, end the user's sessions, tokens and access keys. If "
        "this is true, they only end the sessions. The default is false.",
    )


class EndedSerializer(serializers.Serializer[EndedCounts]):
    sessions = serializers.IntegerField()
    tokens = serializers.IntegerField(help_text="The number of tokens that were revoked.")
    access_keys = serializers.IntegerField(help_text="The number of access keys that were deleted.")


class UserUpdatedSerializer(UserSerializer):
    ended = EndedSerializer(help_text="How many of the user's sessions, tokens and access keys were ended.")

    class Meta(UserSerializer.Meta):
        fields = (*UserSerializer.Meta.fields, "ended")
        read_only_fields = fields


class PasswordChangeSerializer(serializers.Serializer[User]):
    current_password = serializers.CharField(max_length=LONGEST_PASSWORD, write_only=True, trim_whitespace=False)
    new_password = password_field()
    keep_tokens = serializers.BooleanField(
        required=False,
        help_text="If false, your tokens and access keys end, too, except the token of this request. The default "
        "is true.",
    )


class PasswordChangedSerializer(serializers.Serializer[EndedCounts]):
    ended = EndedSerializer()


class TokenSerializer(serializers.ModelSerializer[Token]):
    username = serializers.CharField(source="user.username", read_only=True)

    class Meta:
        model = Token
        fields: tuple[str, ...] = (
            "id",
            "name",
            "username",
            "prefix",
            "scope",
            "instance_id",
            "expires_at",
            "last_used_at",
            "created_at",
        )
        read_only_fields = fields


class TokenCreateSerializer(serializers.Serializer[Token]):
    name = serializers.CharField(max_length=100)
    scope = serializers.ChoiceField(choices=Role.choices)
    expires_at = serializers.DateTimeField(required=False)


class TokenCreatedSerializer(TokenSerializer):
    token = serializers.CharField(read_only=True, help_text="The token itself, which only this answer shows.")

    class Meta(TokenSerializer.Meta):
        fields = (*TokenSerializer.Meta.fields, "token")
        read_only_fields = fields


class SessionsEndedSerializer(serializers.Serializer[Any]):
    sessions = serializers.IntegerField(help_text="The number of sessions that were ended.")


class OwnSessionSerializer(serializers.Serializer[Session]):
    id = serializers.SerializerMethodField()
    is_current = serializers.SerializerMethodField(help_text="Whether this request belongs to this session.")
    logged_in_at = serializers.SerializerMethodField(help_text="When the user logged in; null if it is not known.")
    expires_at = serializers.DateTimeField(source="expire_date", read_only=True)
    address = serializers.SerializerMethodField(
        help_text="The address that the user logged in from; null if it is not known."
    )
    browser = serializers.SerializerMethodField(
        help_text="The browser's name for itself, from the header User-Agent; null if it is not known."
    )

    def get_id(self, session: Session) -> str:
        return session_id(session.session_key)

    def get_is_current(self, session: Session) -> bool:
        return bool(session.session_key == self.context["request"].session.session_key)

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_logged_in_at(self, session: Session) -> str | None:
        return self._noted(session, "logged_in_at")

    def get_address(self, session: Session) -> str | None:
        return self._noted(session, "address")

    def get_browser(self, session: Session) -> str | None:
        return self._noted(session, "browser")

    def _noted(self, session: Session, name: str) -> str | None:
        found: str | None = session_facts(session)[name]
        return found


class LoginSerializer(serializers.Serializer[User]):
    username = serializers.CharField(max_length=64)
    password = serializers.CharField(max_length=LONGEST_PASSWORD, write_only=True, trim_whitespace=False)


class ProviderSignInSerializer(serializers.Serializer[Any]):
    next = serializers.CharField(
        max_length=2000,
        required=False,
        allow_blank=True,
        help_text="The path in the console that the browser comes back to afterwards.",
    )


class ProviderUrlSerializer(serializers.Serializer[Any]):
    url = serializers.CharField(help_text="The address at the identity provider that the browser must open now.")


# The generator ignores null as a choice, so the schema is given here.
@extend_schema_field({"$ref": "#/components/schemas/Role"})
class NullableRoleField(serializers.ChoiceField):
    pass


class SessionSerializer(serializers.Serializer[User]):
    is_authenticated = serializers.BooleanField()
    user = UserSerializer(allow_null=True)
    role = NullableRoleField(
        choices=Role.choices,
        allow_null=True,
        help_text="The role that this caller acts with; null if no user is logged in.",
    )
    csrf_token = serializers.CharField(
        help_text="The token to send as the header X-CSRFToken with every write of a session."
    )
    token_lifetime_days = serializers.IntegerField(help_text="The longest lifetime that a new token may have.")
    provider = serializers.CharField(
        allow_null=True, help_text="The name of the identity provider; null if there is none to sign in by."
    )
    has_passwords = serializers.BooleanField(
        help_text="Whether users may log in with a password. If false, only the local administrator may."
    )
