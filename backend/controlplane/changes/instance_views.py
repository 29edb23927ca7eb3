"""Everything that alters an instance: each request makes a change set and answers with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts.permissions import ViewerOnly
from controlplane.changes import cache_planning, instance_services, observing, services
from controlplane.changes.models import ChangeSet
from controlplane.changes.serializers import (
    CacheDisableSerializer,
    CacheEnableSerializer,
    CacheObserveSerializer,
    CacheSizingSerializer,
    ChangePreviewSerializer,
    ChangeSerializer,
    ProxySerializer,
    ResizeSerializer,
    RestartSerializer,
    UpgradeSerializer,
)
from controlplane.changes.views import change_answer, checked, planned_on
from controlplane.core.etag import if_match
from controlplane.core.views import ApiView
from controlplane.fleet.selectors import instance_get
from controlplane.fleet.serializers import InstanceCreateSerializer, InstanceSerializer
from controlplane.fleet.views import InstanceReading, shown

CHANGE = {202: ChangeSerializer}


class InstanceViewSet(InstanceReading):
    @extend_schema(request=InstanceCreateSerializer, responses={202: InstanceSerializer})
    def create(self, request: Request) -> Response:
        """Registers an existing server (`external`), or creates a server on the control plane's machine (`local`). The
        instance can be used once its state is `running`.
        """
        instance = instance_services.instance_create(**checked(InstanceCreateSerializer, request))
        return shown(instance.pk, 202)

    @extend_schema(responses=CHANGE)
    def destroy(self, request: Request, pk: str) -> Response:
        """Removes an instance by a change set. An external server is only removed from the control plane; a local one
        is stopped, and its data is deleted.
        """
        return change_answer(instance_services.instance_delete(instance_get(pk), if_match(request)), 202)


def planned(request: Request, pk: str, service: Callable[..., ChangeSet], serializer: type[Any]) -> Response:
    """Returns the answer 202 with the change set that `service` makes of the instance and the request's body, which
    `serializer` checks.
    """
    return change_answer(service(planned_on(request, pk), **checked(serializer, request)), 202)


class Planned(ApiView):
    if_match_welcome_methods = ("POST",)


class Restart(Planned):
    @extend_schema(operation_id="instances_restart", request=RestartSerializer, responses=CHANGE)
    def post(self, request: Request, pk: str) -> Response:
        """Restarts the instance's server by a change set. Static parameters that wait for a restart take effect."""
        return planned(request, pk, services.change_restart, RestartSerializer)


class Resize(Planned):
    @extend_schema(operation_id="instances_resize", request=ResizeSerializer, responses=CHANGE)
    def post(self, request: Request, pk: str) -> Response:
        """Moves the instance to another class by a change set. Configured expressions are computed again for it. If
        query_cache_size is configured as a number, the request must say what it is to be.
        """
        return planned(request, pk, services.change_resize, ResizeSerializer)


class Upgrade(Planned):
    @extend_schema(operation_id="instances_upgrade", request=UpgradeSerializer, responses=CHANGE)
    def post(self, request: Request, pk: str) -> Response:
        """Installs the engine on the instance's server by a change set, or replaces it with this control plane's
        version.
        """
        return planned(request, pk, services.change_upgrade, UpgradeSerializer)


class Proxy(Planned):
    @extend_schema(operation_id="instances_proxy", request=ProxySerializer, responses=CHANGE)
    def post(self, request: Request, pk: str) -> Response:
        """Enables or disables the managed service's dedicated proxy by a change set. This only changes what the control
        plane records.
        """
        return planned(request, pk, services.change_proxy, ProxySerializer)


class CachePreview(ApiView):
    permission_classes = (ViewerOnly,)

    @extend_schema(
        operation_id="instances_cache_preview", request=CacheSizingSerializer, responses=ChangePreviewSerializer
    )
    def post(self, request: Request, pk: str) -> Response:
        """Returns what enabling the fast query cache would change. Nothing is stored or changed."""
        preview = cache_planning.preview_enable(instance_get(pk), **checked(CacheSizingSerializer, request))
        return Response(ChangePreviewSerializer(preview).data)


class CacheObserve(ApiView):
    @extend_schema(
        operation_id="instances_cache_observe",
        request=CacheObserveSerializer,
        responses=CHANGE
        | {204: OpenApiResponse(description="The observation has ended, and no setting had to be restored.")},
    )
    def post(self, request: Request, pk: str) -> Response:
        """Lets the engine count, while the cache is off, what the cache would answer. Nothing is stored or served. The
        observation ends by itself after the requested hours; 0 hours end it now.
        """
        hours = checked(CacheObserveSerializer, request)["hours"]
        instance = instance_get(pk)
        change = observing.observation_begin(instance, hours=hours) if hours else observing.observation_end(instance)
        return change_answer(change, 202) if change else Response(status=204)


class CacheEnable(Planned):
    @extend_schema(operation_id="instances_cache_enable", request=CacheEnableSerializer, responses=CHANGE)
    def post(self, request: Request, pk: str) -> Response:
        """Enables the fast query cache by a change set: reduces the buffer pool to 90 %, sets the cache's size by the
        chosen rule, and then switches the cache on.
        """
        return planned(request, pk, services.change_enable, CacheEnableSerializer)


class CacheDisable(Planned):
    @extend_schema(operation_id="instances_cache_disable", request=CacheDisableSerializer, responses=CHANGE)
    def post(self, request: Request, pk: str) -> Response:
        """Disables the fast query cache by a change set, and gives its memory back to the server."""
        return planned(request, pk, services.change_disable, CacheDisableSerializer)
