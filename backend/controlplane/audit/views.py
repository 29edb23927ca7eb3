"""Reading the audit trail, and exporting it. Nothing writes it over HTTP, but that it was exported."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import django_filters
from django.core.exceptions import ValidationError
from django.http import StreamingHttpResponse
from django_filters.fields import IsoDateTimeField
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import mixins
from rest_framework.request import Request

from controlplane.audit.models import AuditEvent
from controlplane.audit.serializers import AuditEventSerializer, ExportSerializer
from controlplane.audit.services import audit_export
from controlplane.core.views import AnyAccept, ApiView, ApiViewSet


class MomentField(IsoDateTimeField):
    """A filter's field for a time, which is converted to UTC. A time that UTC cannot express, in the last hours of the
    year 9999, is refused.
    """

    def to_python(self, value: Any) -> datetime | None:
        try:
            found = super().to_python(value)
            return found and found.astimezone(UTC)
        except OverflowError as error:
            raise ValidationError("This time is out of range in UTC.", code="overflow") from error


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


CONTENT_TYPES = {"csv": "text/csv", "jsonl": "application/jsonl"}


# Exports the audit events of a period as CSV or as one JSON object per line. config.urls sets the permission, because
# this app must not import accounts.
class AuditExport(ApiView):
    content_negotiation_class = AnyAccept

    @extend_schema(
        operation_id="audit_events_export",
        parameters=[ExportSerializer],
        responses={(200, kind): OpenApiTypes.STR for kind in CONTENT_TYPES.values()},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Exports the audit events of a span of time as a file, oldest first. Only administrators may do this, and the
        export is itself an audit event.
        """
        given = ExportSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        wanted = given.validated_data
        rows = audit_export(wanted["since"], wanted["until"], wanted["format"])
        name = f"audit-{wanted['since']:%Y%m%d}-{wanted['until']:%Y%m%d}.{wanted['format']}"
        headers = {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{name}"'}
        return StreamingHttpResponse(rows, content_type=CONTENT_TYPES[wanted["format"]], headers=headers)
