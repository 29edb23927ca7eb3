"""Alerts over HTTP."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts.permissions import AdminOnly, ReadViewerWriteOperator, ViewerOnly
from controlplane.alerts import selectors, services
from controlplane.alerts import serializers as shapes
from controlplane.alerts.mailing import test_mail_send
from controlplane.alerts.models import AlertRule, Incident, Silence
from controlplane.alerts.preview import rule_preview
from controlplane.alerts.states import MEASURES
from controlplane.core.etag import if_match
from controlplane.core.views import ApiView, ApiViewSet, with_etag


def _given(serializer: Any, data: Any, **kwargs: Any) -> dict[str, Any]:
    checked = serializer(data=data, **kwargs)
    checked.is_valid(raise_exception=True)
    return dict(checked.validated_data)


class AlertRuleViewSet(ApiViewSet):
    queryset = selectors.rule_list()
    serializer_class = shapes.AlertRuleSerializer
    permission_classes = (ReadViewerWriteOperator,)
    filterset_fields = ("metric", "severity", "scope", "is_enabled")
    ordering = ("name", "id")
    if_match_methods = ("PUT", "DELETE")

    @extend_schema(responses=shapes.AlertRuleSerializer(many=True))
    def list(self, request: Request) -> Response:
        return self.listed(self.get_queryset())

    @extend_schema(responses=shapes.AlertRuleSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        return self._rendered(selectors.rule_get(pk))

    @extend_schema(request=shapes.AlertRuleWriteSerializer, responses={201: shapes.AlertRuleSerializer})
    def create(self, request: Request) -> Response:
        given = _given(shapes.AlertRuleWriteSerializer, request.data)
        return self._rendered(services.rule_create(**given), 201)

    @extend_schema(request=shapes.AlertRuleWriteSerializer, responses=shapes.AlertRuleSerializer)
    def update(self, request: Request, pk: str) -> Response:
        """Replaces the rule. A field that is left out takes its default."""
        rule, expected = selectors.rule_get(pk), if_match(request)
        given = _given(shapes.AlertRuleWriteSerializer, request.data)
        return self._rendered(services.rule_update(rule=rule, expected=expected, **given))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        services.rule_delete(rule=selectors.rule_get(pk), expected=if_match(request))
        return Response(status=204)

    @extend_schema(request=shapes.AlertRuleWriteSerializer, responses=shapes.RulePreviewSerializer)
    @action(detail=False, methods=["post"], permission_classes=[ViewerOnly])
    def preview(self, request: Request) -> Response:
        """Returns when this rule would have fired over the past day, and for what instances. Nothing is stored."""
        found = rule_preview(_given(shapes.AlertRuleWriteSerializer, request.data))
        return Response(shapes.RulePreviewSerializer(found).data)

    def _rendered(self, rule: AlertRule, status: int = 200) -> Response:
        return with_etag(shapes.AlertRuleSerializer(rule).data, rule.version, status)


class AlertMetrics(ApiView):
    @extend_schema(operation_id="alert_metrics_list", responses=shapes.AlertMetricListSerializer)
    def get(self, request: Request) -> Response:
        """Returns what alert rules can watch: metrics, which are computed from samples, and states of instances."""
        return Response({"items": shapes.AlertMetricSerializer(MEASURES.values(), many=True).data})


class IncidentFilter(django_filters.FilterSet):
    is_open = django_filters.BooleanFilter("resolved_at", "isnull")

    class Meta:
        model = Incident
        fields = ("rule", "instance", "severity", "metric")


class IncidentViewSet(ApiViewSet):
    queryset = selectors.incident_list()
    serializer_class = shapes.IncidentSerializer
    permission_classes = (ReadViewerWriteOperator,)
    filterset_class = IncidentFilter
    ordering = ("-opened_at", "-id")

    @extend_schema(responses=shapes.IncidentSerializer(many=True))
    def list(self, request: Request) -> Response:
        return self.listed(self.get_queryset())

    @extend_schema(responses=shapes.IncidentDetailSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(shapes.IncidentDetailSerializer(selectors.incident_get(pk)).data)

    @extend_schema(request=None, responses=shapes.IncidentDetailSerializer)
    @action(detail=True, methods=["post"])
    def acknowledge(self, request: Request, pk: str) -> Response:
        incident = services.incident_acknowledge(incident=selectors.incident_get(pk))
        return Response(shapes.IncidentDetailSerializer(incident).data)


class SilenceFilter(django_filters.FilterSet):
    is_in_force = django_filters.BooleanFilter(method="filter_in_force")

    class Meta:
        model = Silence
        fields = ("rule", "instance")

    def filter_in_force(self, queryset: QuerySet[Silence], name: str, value: bool) -> QuerySet[Silence]:
        return selectors.silence_in_force_filter(queryset, value)


class SilenceViewSet(ApiViewSet):
    queryset = selectors.silence_list()
    serializer_class = shapes.SilenceSerializer
    permission_classes = (ReadViewerWriteOperator,)
    filterset_class = SilenceFilter
    ordering = ("-starts_at", "-id")

    @extend_schema(responses=shapes.SilenceSerializer(many=True))
    def list(self, request: Request) -> Response:
        return self.listed(self.get_queryset())

    @extend_schema(responses=shapes.SilenceSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(shapes.SilenceSerializer(selectors.silence_get(pk)).data)

    @extend_schema(request=shapes.SilenceCreateSerializer, responses={201: shapes.SilenceSerializer})
    def create(self, request: Request) -> Response:
        silence = services.silence_create(**_given(shapes.SilenceCreateSerializer, request.data))
        return Response(shapes.SilenceSerializer(silence).data, status=201)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Ends a silence now. The silence stays in the list as history."""
        services.silence_end(silence=selectors.silence_get(pk))
        return Response(status=204)


class TestMail(ApiView):
    permission_classes = (AdminOnly,)

    @extend_schema(
        operation_id="alerts_test_mail", request=shapes.TestMailSerializer, responses=shapes.TestMailSentSerializer
    )
    def post(self, request: Request) -> Response:
        """Sends one test mail now, through the SMTP server of the settings. If that server refuses it or cannot be
        reached, the answer is an error that says why.
        """
        to = _given(shapes.TestMailSerializer, request.data)["to"]
        return Response({"to": to, "server": test_mail_send(to=[to])})
