"""Access keys: one's own; an admin sees, disables and deletes everybody's."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import mixins
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts import access_key_selectors as selectors
from controlplane.accounts import access_key_services as services
from controlplane.accounts.access_key_serializers import (
    AccessKeyCreatedSerializer,
    AccessKeyCreateSerializer,
    AccessKeySerializer,
    AccessKeyUpdateSerializer,
)
from controlplane.accounts.models import AccessKey, User
from controlplane.accounts.permissions import ViewerOnly, role_in_force
from controlplane.accounts.roles import Role
from controlplane.core.shown_once import ShownOnce
from controlplane.core.views import ApiViewSet


class AccessKeyViewSet(mixins.ListModelMixin, ApiViewSet):
    queryset = AccessKey.objects.none()
    serializer_class = AccessKeySerializer
    permission_classes = (ViewerOnly,)
    filterset_fields = ("is_active", "scope")
    ordering = ("-created_at", "-id")

    def get_queryset(self) -> Any:
        if not isinstance(self.request.user, User):
            return AccessKey.objects.none()
        return selectors.access_key_list(self.request.user, everyones=self._held() == Role.ADMIN)

    def _held(self) -> str:
        return role_in_force(self.request) or Role.VIEWER

    @extend_schema(request=AccessKeyCreateSerializer, responses={201: AccessKeyCreatedSerializer})
    def create(self, request: Request) -> Response:
        given = AccessKeyCreateSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        key, secret = services.access_key_create(request.user, **given.validated_data, held=self._held())
        return ShownOnce({**AccessKeySerializer(key).data, "secret": secret}, f"access key {key.pk}")

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(AccessKeySerializer(self.get_object()).data)

    @extend_schema(request=AccessKeyUpdateSerializer, responses=AccessKeySerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Renames, disables or enables an access key."""
        given = AccessKeyUpdateSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        key = services.access_key_update(self.get_object(), given.validated_data, held=self._held())
        return Response(AccessKeySerializer(key).data)

    def destroy(self, request: Request, pk: str) -> Response:
        services.access_key_delete(self.get_object())
        return Response(status=204)
