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
