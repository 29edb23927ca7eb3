"""Reading the audit trail. Nothing writes it over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import django_filters
from django.core.exceptions import ValidationError
from django_filters.fields import IsoDateTimeField
from rest_framework import mixins

from controlplane.audit.models import AuditEvent
from controlplane.audit.serializers import AuditEventSerializer
from controlplane.core.views import ApiViewSet


class MomentField(IsoDateTimeField):
    """In UTC, where the last hours of the last year may be none any more."""

    def to_python(self, value: Any) -> datetime | None:
        try:
            found = super().to_python(value)
            return found and found.astimezone(UTC)
        except OverflowError as error:
            raise ValidationError("There is no such moment in UTC.", code="overflow") from error


class MomentFilter(django_filters.IsoDateTimeFilter):
    field_class = MomentField


class AuditEventFilter(django_filters.FilterSet):
    since = MomentFilter("created_at", "gte")
    until = MomentFilter("created_at", "lt")
    action = django_filters.CharFilter("action", "startswith")

    class Meta:
        model = AuditEvent
        fields = ("actor", "target_type", "target_id", "request_id")


class AuditEventViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ApiViewSet):
    queryset = AuditEvent.objects.all()
    serializer_class = AuditEventSerializer
    filterset_class = AuditEventFilter
    ordering = ("-created_at", "-id")
