from __future__ import annotations

from typing import Any

from rest_framework import serializers

from controlplane.changes.serializers import TimingSerializer
from controlplane.fleet.serializers import TagsField
from controlplane.prerequisites.serializers import InstanceFindingSerializer
from controlplane.rollouts.models import FleetApply, FleetApplyItem
from controlplane.rollouts.selectors import fleet_applies_counts
from controlplane.rollouts.states import ApplyKind


class FleetApplyLineSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    unit = serializers.CharField(default="")
    old_submitted = serializers.CharField(allow_null=True)
    new_submitted = serializers.CharField(allow_null=True)
    old_value = serializers.CharField(allow_null=True)
    new_value = serializers.CharField(allow_null=True)
    needs_restart = serializers.BooleanField()


class FleetApplySerializer(serializers.ModelSerializer[FleetApply]):
    template = serializers.CharField(source="template_id", allow_null=True)
    reverts = serializers.CharField(
        source="reverts_id", allow_null=True, help_text="The fleet apply that this one rolls back."
    )
    counts = serializers.SerializerMethodField(help_text="The number of items (one per instance) in each state.")

    class Meta:
        model = FleetApply
        fields = (
            "id", "kind", "template", "template_name", "template_version", "minor_version", "settle_seconds",
            "max_p95_percent", "parallelism", "max_failures", "allow_restart",
            "needs_admin", "note", "when", "at", "reverts", "state", "counts", "created_by",
            "started_by", "version", "created_at", "started_at", "finished_at",
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
            "passed_at",
            "p95_before_ms",
            "p95_after_ms",
        )
        read_only_fields = fields


class FleetSelectionSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(
        ApplyKind.choices,
        default=ApplyKind.PARAMETERS,
        help_text="`parameters` applies a template; `upgrade` installs the engine.",
    )
    template = serializers.CharField(
        max_length=64,
        required=False,
        allow_null=True,
        default=None,
        help_text="The name or id of the template; absent for an upgrade.",
    )
    template_version = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, required=False, allow_null=True, default=None
    )
    instances = serializers.ListField(
        child=serializers.CharField(max_length=64),
        max_length=10_000,
        default=list,
        help_text="The ids or names of the instances.",
    )
    tags = TagsField(default=dict, help_text="Selects instances that have all of these tags, in addition.")
    every = serializers.BooleanField(default=False, help_text="Whether all instances are selected.")
    allow_restart = serializers.BooleanField(default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        is_upgrade = attrs["kind"] == ApplyKind.UPGRADE
        if is_upgrade and attrs["template"]:
            raise serializers.ValidationError({"template": "An upgrade takes no template: leave it out."})
        if not is_upgrade and not attrs["template"]:
            raise serializers.ValidationError({"template": "Name a template."})
        validated: dict[str, Any] = super().validate(attrs)
        return validated


class FleetApplyCreateSerializer(FleetSelectionSerializer, TimingSerializer):
    parallelism = serializers.IntegerField(min_value=1, max_value=100, default=5)
    max_failures = serializers.IntegerField(
        min_value=0,
        max_value=10_000,
        default=0,
        help_text="The number of failures that are accepted. One more stops the fleet apply.",
    )
    settle_seconds = serializers.IntegerField(
        min_value=0,
        max_value=86_400,
        default=120,
        help_text="For an upgrade: how long each wave is watched, in seconds.",
    )
    max_p95_percent = serializers.IntegerField(
        min_value=100,
        max_value=100_000,
        required=False,
        allow_null=True,
        default=None,
        help_text="For an upgrade: the highest allowed `p95_answer_time` at the end of the watch, in percent of "
        "the value before. Null allows any.",
    )
    start = serializers.BooleanField(default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["max_p95_percent"] is not None and not (
            attrs["kind"] == ApplyKind.UPGRADE and attrs["settle_seconds"]
        ):
            told = "Only an upgrade whose waves are watched can go by this: leave it out, or set settle_seconds."
            raise serializers.ValidationError({"max_p95_percent": told})
        return super().validate(attrs)


class FleetPreviewItemSerializer(serializers.Serializer[Any]):
    instance = serializers.CharField(source="instance.pk")
    instance_name = serializers.CharField(source="instance.name")
    lines = FleetApplyLineSerializer(many=True)
    needs_restart = serializers.BooleanField()
    blocking = serializers.ListField(
        child=serializers.CharField(), help_text="Why the instance cannot be changed, as sentences."
    )
    findings = InstanceFindingSerializer(
        many=True,
        help_text="The blocking findings, and what is not known about the account's privileges. Empty for an upgrade.",
    )


class FleetPreviewSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(ApplyKind.choices)
    minor_version = serializers.IntegerField(allow_null=True)
    template_name = serializers.CharField()
    template_version = serializers.IntegerField()
    items = FleetPreviewItemSerializer(many=True)
