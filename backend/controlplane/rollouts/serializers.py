from __future__ import annotations

from typing import Any

from rest_framework import serializers

from controlplane.fleet.serializers import TagsField
from controlplane.rollouts.models import FleetApply, FleetApplyItem
from controlplane.rollouts.selectors import fleet_applies_counts


class FleetApplyLineSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    old_submitted = serializers.CharField(allow_null=True)
    new_submitted = serializers.CharField(allow_null=True)
    old_value = serializers.CharField(allow_null=True)
    new_value = serializers.CharField(allow_null=True)
    needs_restart = serializers.BooleanField()


class FleetApplySerializer(serializers.ModelSerializer[FleetApply]):
    template = serializers.CharField(source="template_id", allow_null=True)
    counts = serializers.SerializerMethodField(help_text="How many items are in which state.")

    class Meta:
        model = FleetApply
        fields = (
            "id", "template", "template_name", "template_version", "parallelism", "max_failures", "allow_restart",
            "needs_admin", "note", "state", "counts", "created_by", "started_by", "version", "created_at",
            "started_at", "finished_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_counts(self, row: FleetApply) -> dict[str, int]:
        known: dict[str, int] | None = getattr(row, "counted", None)
        return fleet_applies_counts([row.pk])[row.pk] if known is None else known


class FleetApplyItemSerializer(serializers.ModelSerializer[FleetApplyItem]):
    instance = serializers.CharField(source="instance_id", allow_null=True)
    change = serializers.CharField(source="change_id", allow_null=True)
    lines = FleetApplyLineSerializer(many=True)

    class Meta:
        model = FleetApplyItem
        fields = (
            "id",
            "instance",
            "instance_name",
            "change",
            "state",
            "detail",
            "lines",
            "needs_restart",
            "finished_at",
        )
        read_only_fields = fields


class FleetSelectionSerializer(serializers.Serializer[Any]):
    template = serializers.CharField(max_length=64)
    template_version = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, required=False, allow_null=True, default=None
    )
    instances = serializers.ListField(
        child=serializers.CharField(max_length=64), max_length=10_000, default=list, help_text="Ids or names."
    )
    tags = TagsField(default=dict, help_text="Instances that have all of these, too.")
    every = serializers.BooleanField(default=False, help_text="Every instance.")
    allow_restart = serializers.BooleanField(default=False)


class FleetApplyCreateSerializer(FleetSelectionSerializer):
    parallelism = serializers.IntegerField(min_value=1, max_value=100, default=5)
    max_failures = serializers.IntegerField(min_value=0, max_value=10_000, default=0, help_text="One more stops it.")
    note = serializers.CharField(max_length=500, allow_blank=True, default="")
    start = serializers.BooleanField(default=False)


class FleetPreviewItemSerializer(serializers.Serializer[Any]):
    instance = serializers.CharField(source="instance.pk")
    instance_name = serializers.CharField(source="instance.name")
    lines = FleetApplyLineSerializer(many=True)
    needs_restart = serializers.BooleanField()
    blocking = serializers.ListField(child=serializers.CharField(), help_text="Why not, as sentences.")


class FleetPreviewSerializer(serializers.Serializer[Any]):
    template_name = serializers.CharField()
    template_version = serializers.IntegerField()
    items = FleetPreviewItemSerializer(many=True)
