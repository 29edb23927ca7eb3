"""Fleet applies over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts.permissions import ViewerOnly
from controlplane.changes.views import checked
from controlplane.core.views import ApiView, ApiViewSet, with_etag
from controlplane.rollouts import services
from controlplane.rollouts.models import FleetApply, FleetApplyItem
from controlplane.rollouts.selectors import fleet_applies_counts, fleet_apply_get
from controlplane.rollouts.serializers import (
    FleetApplyCreateSerializer,
    FleetApplyItemSerializer,
    FleetApplySerializer,
    FleetPreviewSerializer,
    FleetSelectionSerializer,
)


class FleetPreview(ApiView):
    permission_classes = (ViewerOnly,)

    @extend_schema(
        operation_id="fleet_applies_preview", request=FleetSelectionSerializer, responses=FleetPreviewSerializer
    )
    def post(self, request: Request) -> Response:
        """Returns what a template, or an upgrade of the engine, would change on each instance. It uses stored facts; no
        server is asked.
        """
        subject, items = services.fleet_apply_preview(**checked(FleetSelectionSerializer, request))
        return Response(FleetPreviewSerializer({**asdict(subject), "items": items}).data)


class FleetApplyItems(ListAPIView[FleetApplyItem], ApiView):
    queryset = FleetApplyItem.objects.none()
    serializer_class = FleetApplyItemSerializer
    filterset_fields = ("state",)
    ordering = ("id",)

    def get_queryset(self) -> QuerySet[FleetApplyItem]:
        return fleet_apply_get(self.kwargs["pk"]).items.all()


class FleetApplyViewSet(mixins.ListModelMixin, ApiViewSet):
    queryset = FleetApply.objects.all()
    serializer_class = FleetApplySerializer
    filterset_fields = ("state",)

    def paginate_queryset(self, queryset: Any) -> Any:
        """Returns a page of rows, each with its counts in `counted`, which one query reads for the whole page."""
        page = super().paginate_queryset(queryset) or []
        counted = fleet_applies_counts([row.pk for row in page])
        for row in page:
            row.counted = counted[row.pk]
        return page

    @extend_schema(request=FleetApplyCreateSerializer, responses={201: FleetApplySerializer})
    def create(self, request: Request) -> Response:
        """Makes a fleet apply: previews a template, or an upgrade of the engine, for many instances and stores the
        result. With `start` it begins at once.
        """
        row = services.fleet_apply_create(**checked(FleetApplyCreateSerializer, request))
        return with_etag(FleetApplySerializer(row).data, row.version, 201)

    def retrieve(self, request: Request, pk: str) -> Response:
        row = fleet_apply_get(pk)
        return with_etag(FleetApplySerializer(row).data, row.version)

    def _steer(self, pk: str, service: Callable[[FleetApply], FleetApply]) -> Response:
        row = service(fleet_apply_get(pk))
        return with_etag(FleetApplySerializer(row).data, row.version)

    @extend_schema(request=None, responses=FleetApplySerializer)
    @action(detail=True, methods=["post"])
    def start(self, request: Request, pk: str) -> Response:
        """Starts the fleet apply."""
        return self._steer(pk, services.fleet_apply_start)

    @extend_schema(request=None, responses=FleetApplySerializer)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Pauses the fleet apply: running changes end, and no new ones start."""
        return self._steer(pk, services.fleet_apply_pause)

    @extend_schema(request=None, responses=FleetApplySerializer)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Resumes a paused fleet apply."""
        return self._steer(pk, services.fleet_apply_resume)

    @extend_schema(request=None, responses={201: FleetApplySerializer})
    @action(detail=True, methods=["post"])
    def rollback(self, request: Request, pk: str) -> Response:
        """Makes and starts a new fleet apply that restores the old values on each instance that this one changed."""
        back = services.fleet_apply_rollback(fleet_apply_get(pk))
        return with_etag(FleetApplySerializer(back).data, back.version, 201)

    @extend_schema(request=None, responses=FleetApplySerializer)
    @action(detail=True, methods=["post"])
    def abort(self, request: Request, pk: str) -> Response:
        """Aborts the fleet apply: instances that have not been started are skipped, and running changes are undone."""
        return self._steer(pk, services.fleet_apply_abort)
