"""Settings over HTTP, for administrators."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts.permissions import AdminOnly
from controlplane.core.etag import if_match
from controlplane.core.views import ApiView, with_etag
from controlplane.settings import services
from controlplane.settings.selectors import settings_get
from controlplane.settings.serializers import SettingsSerializer


class SettingsView(ApiView):
    permission_classes = (AdminOnly,)
    if_match_methods = ("PATCH",)

    @extend_schema(responses=SettingsSerializer)
    def get(self, request: Request) -> Response:
        row = settings_get()
        return with_etag(SettingsSerializer(row).data, row.version)

    @extend_schema(request=SettingsSerializer(partial=True), responses=SettingsSerializer)
    def patch(self, request: Request) -> Response:
        row, expected = settings_get(), if_match(request)
        given = SettingsSerializer(row, data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        row = services.settings_update(row, dict(given.validated_data), expected)
        return with_etag(SettingsSerializer(row).data, row.version)
