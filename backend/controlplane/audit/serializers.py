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
    since = serializers.DateTimeField(help_text="The start of the span, which is part of it.")
    until = serializers.DateTimeField(
        required=False, help_text="The end of the span, which is not part of it. Now, if it is left out."
    )
    format = serializers.ChoiceField(
        choices=["csv", "jsonl"],
        default="csv",
        help_text="The format of the file: CSV, where an apostrophe is put before a cell that a spreadsheet would "
        "run as a formula, or JSON with one event per line.",
    )

    def validate(self, wanted: dict[str, Any]) -> dict[str, Any]:
        now = timezone.now()
        # fixed, so that events recorded during the export do not extend it
        wanted["until"] = min(wanted.get("until", now), now)
        if wanted["since"] >= wanted["until"]:
            raise serializers.ValidationError({"since": "write a time before the end of the span"})
        return wanted
