from typing import Any

from django.utils import timezone
from rest_framework import serializers

from controlplane.audit.models import AuditEvent


class AuditEventSerializer(serializers.ModelSerializer[AuditEvent]):
    before = serializers.DictField(allow_null=True)
    after = serializers.DictField(allow_null=True)

    class Meta:
        model = AuditEvent
        fields = (
            "id", "created_at", "actor", "actor_id", "token_prefix", "address", "request_id",
            "action", "target_type", "target_id", "target_name", "before", "after",
        )  # fmt: skip
        read_only_fields = fields


class ExportSerializer(serializers.Serializer[Any]):
    since = serializers.DateTimeField(help_text="The first moment.")
    until = serializers.DateTimeField(required=False, help_text="The first moment after it; usually now.")
    format = serializers.ChoiceField(
        choices=["csv", "jsonl"],
        default="csv",
        help_text="CSV, where a cell that a spreadsheet would run begins with an apostrophe; or JSON, an event a line.",
    )

    def validate(self, wanted: dict[str, Any]) -> dict[str, Any]:
        now = timezone.now()
        # fixed, so that events recorded during the export do not extend it
        wanted["until"] = min(wanted.get("until", now), now)
        if wanted["since"] >= wanted["until"]:
            raise serializers.ValidationError({"since": "write a time before the end of the span"})
        return wanted
