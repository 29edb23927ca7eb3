from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from controlplane.changes.models import ChangeLine, ChangeSet, ChangeStep
from controlplane.changes.states import StepState, When
from controlplane.core.event_serializers import ProgressSerializer
from controlplane.fleet.serializers import MAX_BYTES
from controlplane.prerequisites.serializers import SIZE_RULES, InstanceFindingSerializer

SHOWN_LINES = 3
PARAMETER_NAME = r"\A[a-z][a-z0-9_]{0,63}\Z"


class ChangeLineSerializer(serializers.ModelSerializer[ChangeLine]):
    class Meta:
        model = ChangeLine
        fields: tuple[str, ...] = (
            "name",
            "unit",
            "old_submitted",
            "new_submitted",
            "old_value",
            "new_value",
            "needs_restart",
        )
        read_only_fields = fields


class PlannedStepSerializer(serializers.ModelSerializer[ChangeStep]):
    class Meta:
        model = ChangeStep
        fields: tuple[str, ...] = ("position", "kind", "name", "old", "new")
        read_only_fields = fields


class ChangeStepSerializer(PlannedStepSerializer):
    class Meta(PlannedStepSerializer.Meta):
        fields = (*PlannedStepSerializer.Meta.fields, "state", "detail", "started_at", "finished_at")
        read_only_fields = fields


class ChangedSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    old = serializers.CharField(allow_null=True)
    new = serializers.CharField(
        allow_null=True, help_text="The new value as submitted; null if the parameter is reset to its default."
    )


class ChangeSummarySerializer(serializers.ModelSerializer[ChangeSet]):
    instance = serializers.CharField(source="instance_id", allow_null=True)
    template = serializers.CharField(source="template_id", allow_null=True)
    reverts = serializers.CharField(source="reverts_id", allow_null=True)
    has_begun = serializers.SerializerMethodField(
        help_text="Whether any step of the change set was tried on the server."
    )
    changed = serializers.SerializerMethodField(help_text="The first few parameters that the change set changes.")
    changed_count = serializers.SerializerMethodField(help_text="The number of parameters that the change set changes.")

    class Meta:
        model = ChangeSet
        fields: tuple[str, ...] = (
            "id", "instance", "instance_name", "kind", "state", "has_begun", "changed", "changed_count",
            "note", "template", "template_version",
            "needs_restart", "needs_admin", "needs_second_person", "when", "at", "not_before", "created_by",
            "approved_by", "reverts", "is_abort_requested", "outcome_code", "outcome_detail", "version", "created_at",
            "started_at", "finished_at",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(ChangedSerializer(many=True))
    def get_changed(self, change: ChangeSet) -> list[dict[str, str | None]]:
        lines = list(change.lines.all())[:SHOWN_LINES]
        return [
            {"name": line.name, "old": line.old_submitted or line.old_value, "new": line.new_submitted}
            for line in lines
        ]

    def get_changed_count(self, change: ChangeSet) -> int:
        return len(change.lines.all())

    def get_has_begun(self, change: ChangeSet) -> bool:
        return any(step.state != StepState.PENDING for step in change.steps.all())


class ChangeSerializer(ChangeSummarySerializer):
    lines = ChangeLineSerializer(many=True)
    steps = ChangeStepSerializer(many=True)
    findings = InstanceFindingSerializer(many=True)
    progress = ProgressSerializer()

    class Meta(ChangeSummarySerializer.Meta):
        fields = (*ChangeSummarySerializer.Meta.fields, "lines", "steps", "findings", "progress")
        read_only_fields = fields


class ChangePreviewSerializer(serializers.Serializer[Any]):
    instance = serializers.CharField()
    instance_version = serializers.IntegerField()
    is_live = serializers.BooleanField(help_text="Whether the old values were read from the running server just now.")
    is_blocked = serializers.BooleanField()
    needs_restart = serializers.BooleanField()
    needs_admin = serializers.BooleanField(help_text="Only administrators may approve or start such a change.")
    lines = ChangeLineSerializer(many=True)
    steps = PlannedStepSerializer(many=True)
    findings = InstanceFindingSerializer(many=True)


class ParametersField(serializers.DictField):
    """An object from the name of a parameter to its new value as text; null resets the parameter to its default."""

    child = serializers.CharField(max_length=4096, allow_null=True, allow_blank=True, trim_whitespace=False)

    def to_internal_value(self, data: Any) -> Any:
        values = super().to_internal_value(data)
        if len(values) > 500:
            raise serializers.ValidationError("at most 500 parameters at once")
        for name in values:
            serializers.RegexField(PARAMETER_NAME).run_validation(name)
        return values


class TimingSerializer(serializers.Serializer[Any]):
    when = serializers.ChoiceField(choices=When.choices, default=When.NOW)
    at = serializers.DateTimeField(
        required=False, allow_null=True, default=None, help_text="When the change set is to run; only with `when: at`."
    )
    note = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if (given.get("when") == When.AT) != (given.get("at") is not None):
            raise serializers.ValidationError({"at": "goes with `when: at`, and only with it"})
        return given


class ApplySerializer(TimingSerializer):
    apply = serializers.BooleanField(
        default=True, help_text="Whether the change set is approved at once. If false, it waits for approval."
    )


class ConsentSerializer(serializers.Serializer[Any]):
    allow_restart = serializers.BooleanField(
        default=False, help_text="Whether the server may be restarted, if a parameter needs that."
    )


class WantedParametersSerializer(ConsentSerializer):
    parameters = ParametersField(default=dict)
    template = serializers.CharField(max_length=64, required=False, allow_null=True, default=None)
    template_version = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, required=False, allow_null=True, default=None
    )
    replace = serializers.BooleanField(
        default=False,
        help_text="Whether configured parameters that the request does not name are reset to their defaults.",
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        given = super().validate(given)
        if not given["parameters"] and not given["template"] and not given["replace"]:
            raise serializers.ValidationError({"parameters": "name at least one parameter, or a template"})
        return given


class PreviewRequestSerializer(WantedParametersSerializer):
    instance = serializers.CharField(max_length=64)


class ChangeRequestSerializer(WantedParametersSerializer, ApplySerializer):
    apply = serializers.BooleanField(
        default=False, help_text="Whether the change set is approved at once. If false, it waits for approval."
    )


class RestartSerializer(ApplySerializer):
    pass


class ResizeSerializer(ApplySerializer, ConsentSerializer):
    instance_class = serializers.CharField(max_length=64)
    parameters = ParametersField(
        default=dict, help_text="Parameters to set together with the new class, such as query_cache_size."
    )


class UpgradeSerializer(ApplySerializer):
    pass


class ProxySerializer(ApplySerializer):
    enabled = serializers.BooleanField()


class CacheSizingSerializer(ConsentSerializer):
    rule = serializers.ChoiceField(
        choices=SIZE_RULES,
        required=False,
        help_text="The rule for the cache's size. If it is left out, a cache that is on keeps its size, and "
        "another one gets the size that the advice suggests.",
    )
    result_set_bytes = serializers.IntegerField(min_value=1024, max_value=MAX_BYTES, required=False)
    size_bytes = serializers.IntegerField(min_value=1024, max_value=10485760000, required=False)
    type = serializers.ChoiceField(choices=[(1, "1"), (2, "2")], default=1)
    shrink_buffer_pool = serializers.BooleanField(
        default=True,
        help_text="Whether the buffer pool is reduced to 90 % of its present size, unless that is below its minimum.",
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        given = super().validate(given)
        rule = given.get("rule", "")
        needs = {"result_set": "result_set_bytes", "explicit": "size_bytes"}.get(rule)
        if needs and needs not in given:
            raise serializers.ValidationError({needs: f"the rule {rule} needs it"})
        return given


class CacheEnableSerializer(CacheSizingSerializer, ApplySerializer):
    pass


class CacheObserveSerializer(serializers.Serializer[Any]):
    hours = serializers.IntegerField(
        min_value=0, max_value=168, default=24, help_text="How many hours to observe; 0 ends an observation."
    )


class CacheDisableSerializer(ApplySerializer):
    restore_buffer_pool = serializers.BooleanField(
        default=True, help_text="Whether the buffer pool gets back the size that it had before the cache was enabled."
    )


class ParameterHistorySerializer(ChangeLineSerializer):
    change = serializers.CharField(source="change_id")
    kind = serializers.CharField(source="change.kind")
    state = serializers.CharField(source="change.state")
    actor = serializers.CharField(source="change.created_by")
    at = serializers.DateTimeField(source="change.finished_at")

    class Meta(ChangeLineSerializer.Meta):
        fields = (*ChangeLineSerializer.Meta.fields, "change", "kind", "state", "actor", "at")
        read_only_fields = fields
