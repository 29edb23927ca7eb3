"""Instance classes, and instances as far as no server is altered: reading, and what is recorded about them."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q
from drf_spectacular.utils import extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts.permissions import ReadViewerWriteAdmin, ReadViewerWriteOperator
from controlplane.core.etag import if_match
from controlplane.core.throttling import CallerThrottle
from controlplane.core.views import ApiView, ApiViewSet, with_etag
from controlplane.fleet import selectors, services, showing
from controlplane.fleet.endpoints import EndpointCheckThrottle, endpoint_probe
from controlplane.fleet.filters import InstanceFilter
from controlplane.fleet.models import Instance, InstanceClass, InstanceParameter, TemplateUse
from controlplane.fleet.serializers import (
    CustomSizeSerializer,
    EndpointCheckSerializer,
    EndpointSeenSerializer,
    FleetSummarySerializer,
    InstanceClassSerializer,
    InstanceClassWriteSerializer,
    InstanceParametersSerializer,
    InstanceSerializer,
    InstanceUpdateSerializer,
    TemplateUseSerializer,
)
from controlplane.fleet.template_uses import template_use_list
from controlplane.parameters.selectors import template_get, template_values


class InstanceClassViewSet(mixins.ListModelMixin, ApiViewSet):
    queryset = InstanceClass.objects.all()
    serializer_class = InstanceClassSerializer
    permission_classes = (ReadViewerWriteAdmin,)
    ordering = ("memory_bytes", "cpu_count", "name")

    @extend_schema(request=InstanceClassWriteSerializer, responses={201: InstanceClassSerializer})
    def create(self, request: Request) -> Response:
        given = InstanceClassWriteSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        return Response(InstanceClassSerializer(services.class_create(**given.validated_data)).data, status=201)

    @extend_schema(request=CustomSizeSerializer, responses=InstanceClassSerializer)
    @action(detail=False, methods=["post"], permission_classes=(ReadViewerWriteOperator,))
    def custom(self, request: Request) -> Response:
        """Returns the class for a machine of exactly this size. If there is none, it is created."""
        given = CustomSizeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        return Response(InstanceClassSerializer(services.class_of_size(**given.validated_data)).data)

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(InstanceClassSerializer(selectors.class_get(pk)).data)

    def destroy(self, request: Request, pk: str) -> Response:
        services.class_delete(selectors.class_get(pk))
        return Response(status=204)


class EndpointCheckView(ApiView):
    throttle_classes = (CallerThrottle, EndpointCheckThrottle)

    @extend_schema(operation_id="endpoints_check", request=EndpointCheckSerializer, responses=EndpointSeenSerializer)
    def post(self, request: Request) -> Response:
        """Connects to a server that is to be registered, and returns its product, version and other facts. Nothing is
        stored except an audit event about the attempt.
        """
        given = EndpointCheckSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        return Response(EndpointSeenSerializer(endpoint_probe(**given.validated_data)).data)


# Lists, reads and edits what the control plane records about instances. Instances are created and deleted by change
# sets, in `changes.instance_views`.
class InstanceReading(mixins.ListModelMixin, ApiViewSet):
    queryset = selectors.instance_list()
    serializer_class = InstanceSerializer
    filterset_class = InstanceFilter
    ordering = ("name",)
    if_match_methods = ("PATCH", "DELETE")

    def get_queryset(self) -> Any:
        return selectors.instance_list_counted()

    @extend_schema(responses=InstanceSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """Returns an instance with the facts that the control plane records about it."""
        return shown(pk)

    @extend_schema(request=InstanceUpdateSerializer, responses=InstanceSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Changes what the control plane records about an instance. The server itself is not changed."""
        instance, expected = selectors.instance_get(pk), if_match(request)
        given = InstanceUpdateSerializer(data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        services.instance_update(instance, given.validated_data, expected)
        return shown(instance.pk)


def shown(pk: str, status: int = 200) -> Response:
    instance = selectors.instance_get(pk, counted=True)
    return with_etag(InstanceSerializer(instance).data, instance.version, status)


class InstanceParametersView(ApiView):
    @extend_schema(operation_id="instances_parameters_list", responses=InstanceParametersSerializer)
    def get(self, request: Request, pk: str) -> Response:
        """Returns all parameters of the instance: which may be set, what is configured, and the values that the server
        runs now.
        """
        instance = selectors.instance_get(pk)
        is_live, items = showing.parameter_rows(instance)
        return with_etag({"is_live": is_live, "items": items}, instance.version)


class TemplateInstances(ListAPIView[TemplateUse], ApiView):
    """The instances that use a template: the version that was applied to each, and where its configuration differs from
    the newest version.
    """

    queryset = TemplateUse.objects.none()
    serializer_class = TemplateUseSerializer
    filterset_fields = ("version",)
    ordering = ("-applied_at", "-id")

    @extend_schema(operation_id="templates_instances_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> Any:
        self.template = template_get(self.kwargs["pk"])
        return template_use_list(self.template)

    def get_serializer_context(self) -> dict[str, Any]:
        template = getattr(self, "template", None)  # none while the contract is generated
        return {**super().get_serializer_context(), "values": template_values(template) if template else {}}


class FleetSummaryView(ApiView):
    @extend_schema(operation_id="fleet_summary", responses=FleetSummarySerializer)
    def get(self, request: Request) -> Response:
        """Returns how many instances there are, in which states, and how many need attention."""
        states = dict(Instance.objects.values_list("state").annotate(count=Count("id")).order_by())
        parameters = InstanceParameter.objects.aggregate(
            drifted_count=Count("instance", filter=Q(is_drifted=True), distinct=True),
            pending_restart_count=Count("instance", filter=Q(is_pending_restart=True), distinct=True),
        )
        without_engine = selectors.engine_missing().count()
        return Response(
            {
                "instance_count": sum(states.values()),
                "engine_line": selectors.fleet_line(),
                "by_state": states,
                "without_engine_count": without_engine,
                **parameters,
            }
        )
