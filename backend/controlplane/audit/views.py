"""Reading the audit trail. Nothing writes it over HTTP."""

from __future__ import annotations

import django_filters
from rest_framework import mixins

from controlplane.audit.models import AuditEvent
from controlplane.audit.serializers import AuditEventSerializer
from controlplane.core.views import ApiViewSet


class AuditEventFilter(django_filters.FilterSet):
    since = django_filters.IsoDateTimeFilter("created_at", "gte")
    until = django_filters.IsoDateTimeFilter("created_at", "lt")
    action = django_filters.CharFilter("action", "startswith")

    class Meta:
        model = AuditEvent
        fields = ("actor", "target_type", "target_id", "request_id")


class AuditEventViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ApiViewSet):
    queryset = AuditEvent.objects.all()
    serializer_class = AuditEventSerializer
    filterset_class = AuditEventFilter
    ordering = ("-created_at", "-id")
