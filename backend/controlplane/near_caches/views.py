"""The near caches of an instance over HTTP, the tokens by which they report, and their reports."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts.authentication import ConsoleSessionAuthentication, ReporterAuthentication
from controlplane.accounts.permissions import ReporterOnly
from controlplane.accounts.roles import Scope
from controlplane.accounts.serializers import TokenSerializer
from controlplane.accounts.services import token_create
from controlplane.core.request_context import caller
from controlplane.core.shown_once import ShownOnce
from controlplane.core.throttling import SharedThrottle
from controlplane.core.views import ApiView
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import instance_get
from controlplane.near_caches.commands import report_command
from controlplane.near_caches.encryption import tls_variables
from controlplane.near_caches.models import NearCache
from controlplane.near_caches.reports import near_report
from controlplane.near_caches.selectors import near_cache_list, near_mode_to_report, near_options
from controlplane.near_caches.serializers import (
    NearCacheSerializer,
    NearReportedSerializer,
    NearReportSerializer,
    NearTokenCreatedSerializer,
    NearTokenSerializer,
)


class NearCaches(ListAPIView[NearCache], ApiView):
    queryset = NearCache.objects.none()
    serializer_class = NearCacheSerializer
    ordering = ("name", "id")

    def get_queryset(self) -> Any:
        return near_cache_list(instance_get(self.kwargs["pk"]))

    @extend_schema(operation_id="instances_near_caches_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The near caches of an instance: those that are attached to its server or report to the control plane now, and
        those that did so within the last day.
        """
        return super().get(request, *args, **kwargs)


class NearTokens(ApiView):
    @extend_schema(
        operation_id="instances_near_tokens_create",
        request=NearTokenSerializer,
        responses={201: NearTokenCreatedSerializer},
    )
    def post(self, request: Request, pk: str) -> Response:
        """Creates a token with which near caches in front of this instance report to the control plane. The token
        allows nothing else.
        """
        instance = instance_get(pk)
        given = NearTokenSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        token, text = token_create(request.user, scope=Scope.REPORTER, instance_id=instance.pk, **given.validated_data)
        own = near_options(instance, near_mode_to_report(instance), tls_variables(instance))
        command = report_command(instance.host, instance.port, own, settings.PUBLIC_URL)
        return ShownOnce({**TokenSerializer(token).data, "token": text, "command": command}, f"token {token.pk}")


class ReportThrottle(SharedThrottle):
    scope = "near_report"

    def ident(self, request: Request) -> str:
        return str(request.auth.pk)


class NearReports(ApiView):
    authentication_classes = (ReporterAuthentication, ConsoleSessionAuthentication)
    permission_classes = (ReporterOnly,)
    throttle_classes = (ReportThrottle,)

    @extend_schema(operation_id="near_caches_report", request=NearReportSerializer, responses=NearReportedSerializer)
    def post(self, request: Request) -> Response:
        """Takes a near cache's report about itself. The token of the request decides which instance the near cache
        belongs to.
        """
        instance = get_object_or_404(Instance, pk=request.auth.instance_id)
        given = NearReportSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        return Response({"next_seconds": near_report(instance, given.validated_data, caller().address)})
