from __future__ import annotations

from rest_framework import serializers

from controlplane.accounts.models import AccessKey
from controlplane.accounts.roles import Role


class AccessKeySerializer(serializers.ModelSerializer[AccessKey]):
    id = serializers.CharField(read_only=True, help_text="The AccessKeyId that clients send with each signature.")
    username = serializers.CharField(source="user.username", read_only=True)

    class Meta:
        model = AccessKey
        fields: tuple[str, ...] = ("id", "name", "username", "scope", "is_active", "last_used_at", "created_at")
        read_only_fields = fields


class AccessKeyCreateSerializer(serializers.Serializer[AccessKey]):
    name = serializers.CharField(max_length=100)
    scope = serializers.ChoiceField(choices=Role.choices)


class AccessKeyUpdateSerializer(serializers.Serializer[AccessKey]):
    name = serializers.CharField(max_length=100, required=False)
    is_active = serializers.BooleanField(required=False)


class AccessKeyCreatedSerializer(AccessKeySerializer):
    secret = serializers.CharField(read_only=True, help_text="The AccessKeySecret, which only this answer shows.")

    class Meta(AccessKeySerializer.Meta):
        fields = (*AccessKeySerializer.Meta.fields, "secret")
        read_only_fields = fields
