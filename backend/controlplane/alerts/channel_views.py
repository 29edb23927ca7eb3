"""Channels over HTTP, for administrators: an address alone may be a secret."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts.permissions import AdminOnly
from controlplane.alerts import channel_services as services
from controlplane.alerts.channel_serializers import ChannelSerializer, ChannelWriteSerializer
from controlplane.alerts.models import Channel
from controlplane.alerts.selectors import channel_get, channel_list
from controlplane.core.etag import if_match
from controlplane.core.views import ApiViewSet, with_etag


class ChannelViewSet(ApiViewSet):
    queryset = channel_list()
    serializer_class = ChannelSerializer
    permission_classes = (AdminOnly,)
    filterset_fields = ("kind", "is_enabled")
    ordering = ("name", "id")
    if_match_methods = ("PUT", "DELETE")

    @extend_schema(responses=ChannelSerializer(many=True))
    def list(self, request: Request) -> Response:
        return self.listed(self.get_queryset())

    @extend_schema(responses=ChannelSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        return self._rendered(channel_get(pk))

    @extend_schema(request=ChannelWriteSerializer, responses={201: ChannelSerializer})
    def create(self, request: Request) -> Response:
        return self._rendered(services.channel_create(**_given(request)), 201)

    @extend_schema(request=ChannelWriteSerializer, responses=ChannelSerializer)
    def update(self, request: Request, pk: str) -> Response:
        """Replaces the channel. A field that is left out takes its default; a secret that is left out stays as it is
        stored.
        """
        channel, expected = channel_get(pk), if_match(request)
        return self._rendered(services.channel_update(channel=channel, expected=expected, **_given(request, channel)))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        services.channel_delete(channel=channel_get(pk), expected=if_match(request))
        return Response(status=204)

    @extend_schema(request=None, responses={204: None})
    @action(detail=True, methods=["post"])
    def test(self, request: Request, pk: str) -> Response:
        """Sends a test message through the channel now. If the receiver refuses it or cannot be reached, the answer is
        an error that says why.
        """
        services.channel_try(channel_get(pk))
        return Response(status=204)

    def _rendered(self, channel: Channel, status: int = 200) -> Response:
        return with_etag(ChannelSerializer(channel).data, channel.version, status)


def _given(request: Request, channel: Channel | None = None) -> dict[str, Any]:
    checked = ChannelWriteSerializer(channel, data=request.data)
    checked.is_valid(raise_exception=True)
    return dict(checked.validated_data)
