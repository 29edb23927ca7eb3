from __future__ import annotations

from django.core.validators import RegexValidator
from rest_framework import serializers

from controlplane.accounts.models import Token, User
from controlplane.accounts.roles import Role

NAME = RegexValidator(r"\A[A-Za-z0-9][A-Za-z0-9_.@-]{1,63}\Z", "2 to 64 letters, digits or _ . @ -")


class UserSerializer(serializers.ModelSerializer[User]):
    email = serializers.CharField(read_only=True, help_text="May be empty.")

    class Meta:
        model = User
        fields = ("id", "username", "email", "role", "is_active", "version", "last_login", "created_at")
        read_only_fields = fields


class UserCreateSerializer(serializers.Serializer[User]):
    username = serializers.CharField(max_length=64, validators=[NAME])
    password = serializers.CharField(max_length=256, write_only=True, trim_whitespace=False)
    role = serializers.ChoiceField(choices=Role.choices)
    email = serializers.EmailField(required=False, allow_blank=True, default="")


class UserUpdateSerializer(serializers.Serializer[User]):
    password = serializers.CharField(max_length=256, required=False, write_only=True, trim_whitespace=False)
    role = serializers.ChoiceField(choices=Role.choices, required=False)
    email = serializers.EmailField(required=False, allow_blank=True)
    is_active = serializers.BooleanField(required=False)


class TokenSerializer(serializers.ModelSerializer[Token]):
    username = serializers.CharField(source="user.username", read_only=True)

    class Meta:
        model = Token
        fields = ("id", "name", "username", "prefix", "scope", "expires_at", "last_used_at", "created_at")
        read_only_fields = fields


class TokenCreateSerializer(serializers.Serializer[Token]):
    name = serializers.CharField(max_length=100)
    scope = serializers.ChoiceField(choices=Role.choices)
    expires_at = serializers.DateTimeField(required=False)


class TokenCreatedSerializer(TokenSerializer):
    token = serializers.CharField(read_only=True, help_text="Shown this once.")

    class Meta(TokenSerializer.Meta):
        fields = (*TokenSerializer.Meta.fields, "token")
        read_only_fields = fields


class LoginSerializer(serializers.Serializer[User]):
    username = serializers.CharField(max_length=64)
    password = serializers.CharField(max_length=256, write_only=True, trim_whitespace=False)


class SessionSerializer(serializers.Serializer[User]):
    is_authenticated = serializers.BooleanField()
    user = UserSerializer(allow_null=True)
    role = serializers.ChoiceField(choices=Role.choices, allow_null=True, help_text="In force for this caller.")
    csrf_token = serializers.CharField(help_text="Send as X-CSRFToken with every write of a session.")
    token_lifetime_days = serializers.IntegerField(help_text="The longest that a token may be good for.")
