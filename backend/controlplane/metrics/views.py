"""Metrics over HTTP."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from prometheus_client.exposition import choose_encoder
from rest_framework import mixins
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.core.errors import Invalid
from controlplane.core.views import AnyAccept, ApiView, ApiViewSet
from controlplane.fleet.selectors import instance_get, instance_polled
from controlplane.metrics import selectors
from controlplane.metrics import serializers as shapes
from controlplane.metrics.definitions import HEADLINE_SECONDS, METRICS
from controlplane.metrics.discovery import scrape_targets
from controlplane.metrics.exposition import registry
from controlplane.metrics.headlines import Headlines, fleet_headlines, instance_headlines
from controlplane.metrics.series import (
    CHART,
    DAY,
    HOUR,
    SPARKLINES,
    Series,
    Span,
    Tables,
    fleet_series,
    instance_series,
    instances_series,
    span_of,
    times_of,
)
from controlplane.settings.selectors import settings_get

LONGEST_SECONDS = 400 * DAY


class MetricDefinitions(ApiView):
    @extend_schema(operation_id="metric_definitions_list", responses=shapes.MetricDefinitionListSerializer)
    def get(self, request: Request) -> Response:
        return Response({"items": shapes.MetricDefinitionSerializer(METRICS.values(), many=True).data})


class InstanceMetrics(ApiView):
    @extend_schema(
        operation_id="instance_metrics", parameters=[shapes.SeriesQuerySerializer], responses=shapes.SeriesSerializer
    )
    def get(self, request: Request, id: str) -> Response:
        instance = instance_get(id)
        query = _query(request)
        definitions, span = selectors.metrics_named(query["names"]), _span(query)
        return Response(_rendered(span, instance_series(instance.pk, definitions, span)))


class FleetMetrics(ApiView):
    @extend_schema(
        operation_id="fleet_metrics", parameters=[shapes.SeriesQuerySerializer], responses=shapes.SeriesSerializer
    )
    def get(self, request: Request) -> Response:
        """Returns metrics of all instances together: counters and gauges are added up, and ratios are computed from the
        sums.
        """
        query = _query(request)
        definitions, span = selectors.metrics_named(query["names"]), _span(query, is_fleet=True)
        return Response(_rendered(span, fleet_series(definitions, span)))


class InstanceHeadlines(ApiView):
    @extend_schema(operation_id="instance_headlines", responses=shapes.HeadlinesSerializer)
    def get(self, request: Request, id: str) -> Response:
        """Returns the key figures of the past hour for an instance, which show whether caching pays there. Reads that
        near caches answered are included.
        """
        return Response(_headlines(instance_headlines(instance_get(id).pk)))


class InstanceStorage(ApiView):
    @extend_schema(operation_id="instance_storage", responses=shapes.StorageSerializer)
    def get(self, request: Request, id: str) -> Response:
        """Returns the storage that the instance's server uses, as last read from it, and for a missing figure the
        reason.
        """
        return Response(shapes.StorageSerializer(selectors.storage_get(instance_get(id))).data)


class FleetHeadlines(ApiView):
    @extend_schema(operation_id="fleet_headlines", responses=shapes.HeadlinesSerializer)
    def get(self, request: Request) -> Response:
        """Returns the key figures of the past hour for all instances together."""
        return Response(_headlines(fleet_headlines()))


class Sparklines(ApiView):
    @extend_schema(
        operation_id="metrics_sparklines",
        parameters=[shapes.SparklinesQuerySerializer],
        responses=shapes.SparklinesSerializer,
    )
    def get(self, request: Request) -> Response:
        """Returns metrics of many instances with few points each, for small charts in a list."""
        query = _query(request, shapes.SparklinesQuerySerializer)
        definitions, span = selectors.metrics_named(query["names"]), _span(query, tables=SPARKLINES)
        found = instances_series(selectors.instances_named(query["instances"]), definitions, span)
        return Response(
            {
                "times": times_of(span),
                "step_seconds": span.step_seconds,
                "resolution": span.resolution,
                "items": [{"instance_id": pk, "series": _sparks(series)} for pk, series in found.items()],
            }
        )


class LatestViewSet(mixins.ListModelMixin, ApiViewSet):
    """The newest values of all metrics, for each instance."""

    queryset = selectors.latest_list()
    serializer_class = shapes.LatestSerializer
    ordering = ("instance_name", "instance_id")
    filterset_fields = ("instance",)


class ScrapeTargets(ApiView):
    pagination_class = None

    @extend_schema(operation_id="prometheus_targets", responses=shapes.ScrapeTargetSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Returns the servers of all instances as targets, in the format of Prometheus' HTTP service discovery."""
        return Response(scrape_targets(instance_polled()))


class Exposition(ApiView):
    """The metrics for Prometheus, at the path where it looks by default, outside /api/v1. A bearer token is needed
    there as well.
    """

    content_negotiation_class = AnyAccept

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        written, content_type = choose_encoder(request.headers.get("Accept", ""))
        return HttpResponse(written(registry()), content_type=content_type)


def _query(
    request: Request, shape: type[shapes.SeriesQuerySerializer] = shapes.SeriesQuerySerializer
) -> dict[str, Any]:
    query = shape(data=request.query_params)
    query.is_valid(raise_exception=True)
    return dict(query.validated_data)


def _span(query: dict[str, Any], tables: Tables = CHART, is_fleet: bool = False) -> Span:
    last = int(query.get("to", timezone.now()).timestamp())
    first = int(query["from"].timestamp()) if "from" in query else last - HOUR
    if not 0 <= first < last:
        raise Invalid.field("from", "must be before `to`, and after 1970")
    if last - first > LONGEST_SECONDS:
        raise Invalid.field("from", "at most 400 days before `to`")
    # The fleet as a whole is only stored by the minute.
    poll_seconds = 60 if is_fleet else settings_get().poll_interval_seconds
    return span_of(first, last, query["points"], poll_seconds, tables)


def _sparks(found: list[Series]) -> list[dict[str, Any]]:
    return [{"name": series.definition.name, "values": series.values, "whole": series.whole} for series in found]


def _headlines(found: Headlines) -> dict[str, Any]:
    return {"window_seconds": HEADLINE_SECONDS, **_rendered(found.span, found.series)}


def _rendered(span: Span, found: list[Series]) -> dict[str, Any]:
    return {
        "times": times_of(span),
        "step_seconds": span.step_seconds,
        "resolution": span.resolution,
        "series": [
            {
                "name": series.definition.name,
                "title": series.definition.title,
                "unit": series.definition.unit,
                "formula": series.definition.formula,
                "values": series.values,
                "whole": series.whole,
            }
            for series in found
        ],
    }
