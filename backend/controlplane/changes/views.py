"""Change sets over HTTP: preview, make, approve, abort, roll back, read."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts.permissions import ViewerOnly
from controlplane.changes import planning, selectors, services
from controlplane.changes.models import ChangeLine, ChangeSet
from controlplane.changes.serializers import (
    ChangePreviewSerializer,
    ChangeRequestSerializer,
    ChangeSerializer,
    ChangeSummarySerializer,
    ParameterHistorySerializer,
    PreviewRequestSerializer,
    TimingSerializer,
)
from controlplane.changes.states import ChangeState, Kind
from controlplane.core.etag import if_match_given
from controlplane.core.views import ApiView, ApiViewSet, with_etag
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import instance_get
from controlplane.parameters.selectors import template_get, template_version_get


def checked(serializer: type[Any], request: Request) -> dict[str, Any]:
    given = serializer(data=request.data)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


def planned_on(request: Request, pk: str) -> Instance:
    """Returns the instance of a request.

    Raises PreconditionFailed if the request's If-Match names another version of it; the header is optional.
    """
    instance = instance_get(pk)
    if_match_given(request).check(instance.version)
    return instance


def change_answer(change: ChangeSet, status: int = 200) -> Response:
    change = selectors.change_get(change.pk)
    return with_etag(ChangeSerializer(change).data, change.version, status)


class ChangePreview(ApiView):
    permission_classes = (ViewerOnly,)

    @extend_schema(operation_id="changes_preview", request=PreviewRequestSerializer, responses=ChangePreviewSerializer)
    def post(self, request: Request) -> Response:
        """Returns what a change would do: old and new values, restarts, steps and findings. Nothing is stored or
        changed.
        """
        given = checked(PreviewRequestSerializer, request)
        name, number = given.pop("template"), given.pop("template_version")
        given["template"] = template_version_get(template_get(name), number) if name else None
        preview = planning.preview_parameters(instance_get(given.pop("instance")), **given)
        return Response(ChangePreviewSerializer(preview).data)


class InstanceChanges(ListAPIView[ChangeSet], ApiView):
    if_match_welcome_methods = ("POST",)
    queryset = ChangeSet.objects.none()
    serializer_class = ChangeSummarySerializer

    def get_queryset(self) -> Any:
        return selectors.change_list().filter(instance=instance_get(self.kwargs["pk"]))

    @extend_schema(operation_id="instances_changes_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(
        operation_id="instances_changes_create", request=ChangeRequestSerializer, responses={201: ChangeSerializer}
    )
    def post(self, request: Request, pk: str) -> Response:
        """Makes a change set of parameters, and approves it if `apply` is true."""
        return change_answer(
            services.change_parameters(planned_on(request, pk), **checked(ChangeRequestSerializer, request)), 201
        )


@extend_schema(
    parameters=[OpenApiParameter("name", OpenApiTypes.STR, description="Only changes of the parameter with this name.")]
)
class ParameterHistory(ListAPIView[ChangeLine], ApiView):
    """The changes of the instance's parameters, newest first: who changed which one when, with the old and the new
    value.
    """

    queryset = ChangeLine.objects.none()
    serializer_class = ParameterHistorySerializer
    ordering = ("-id",)

    def get_queryset(self) -> Any:
        return selectors.line_list(instance_get(self.kwargs["pk"]), self.request.query_params.get("name", ""))


class ChangeFilter(django_filters.FilterSet):
    state = django_filters.MultipleChoiceFilter(choices=ChangeState.choices)
    kind = django_filters.ChoiceFilter(choices=Kind.choices)
    instance = django_filters.CharFilter(method="filter_instance")

    class Meta:
        model = ChangeSet
        fields = ("created_by",)

    def filter_instance(self, found: QuerySet[ChangeSet], name: str, value: str) -> QuerySet[ChangeSet]:
        return selectors.change_list_of(found, value)


class ChangeViewSet(mixins.ListModelMixin, ApiViewSet):
    queryset = selectors.change_list()
    serializer_class = ChangeSummarySerializer
    filterset_class = ChangeFilter

    @extend_schema(responses=ChangeSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        return change_answer(selectors.change_get(pk))

    @extend_schema(request=TimingSerializer, responses=ChangeSerializer)
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: str) -> Response:
        """Approves a change set, which then runs now, in the instance's maintenance window, or at a set time."""
        timing = checked(TimingSerializer, request)
        return change_answer(services.change_approve(selectors.change_get(pk), timing["when"], timing["at"]))

    @extend_schema(request=None, responses=ChangeSerializer)
    @action(detail=True, methods=["post"])
    def apply(self, request: Request, pk: str) -> Response:
        """Runs a change set now, instead of at the time it was scheduled for. Approves it first if that has not been
        done.
        """
        return change_answer(services.change_apply_now(selectors.change_get(pk)))

    @extend_schema(request=None, responses=ChangeSerializer)
    @action(detail=True, methods=["post"])
    def abort(self, request: Request, pk: str) -> Response:
        """Aborts a change set. If it is running, the steps that it has done are undone."""
        return change_answer(services.change_abort(selectors.change_get(pk)))

    @extend_schema(request=None, responses={201: ChangeSerializer})
    @action(detail=True, methods=["post"])
    def rollback(self, request: Request, pk: str) -> Response:
        """Makes a new change set that restores the values which this one, an applied change set, has replaced."""
        return change_answer(services.change_revert(selectors.change_get(pk)), 201)
