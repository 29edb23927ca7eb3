from __future__ import annotations

import math
from datetime import datetime
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from controlplane.alerts.advice import advice_of, chart_of
from controlplane.alerts.models import AlertRule, Incident, IncidentEvent, RuleOverride, Silence
from controlplane.alerts.states import MEASURES
from controlplane.alerts.vocabulary import Comparison, Scope, Severity
from controlplane.fleet.serializers import TagsField
from controlplane.metrics.serializers import MetricDefinitionSerializer

YEAR_SECONDS = 366 * 24 * 3600


class FiniteField(serializers.FloatField):
    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not math.isfinite(value := super().to_internal_value(data)):
            self.fail("invalid")
        return value


class RecipientsField(serializers.ListField):
    child = serializers.EmailField(max_length=254)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=20, **kwargs)


class MatchedTagsField(TagsField):
    """Tags to search for. A name with two underscores is refused, because Django would take it for a look-up inside the
    tag's value.
    """

    def to_internal_value(self, data: Any) -> Any:
        tags = super().to_internal_value(data)
        for name in tags:
            if "__" in name:
                raise serializers.ValidationError(f"{name}: no instance can be found by a name with two underscores")
        return tags


class AlertMetricSerializer(MetricDefinitionSerializer):
    kind = serializers.ChoiceField(
        choices=["rate", "ratio", "gauge", "state"],
        help_text="How the value is computed. A `state` has no samples: it is read at each evaluation, every 15 s.",
    )


class AlertMetricListSerializer(serializers.Serializer[Any]):
    items = AlertMetricSerializer(many=True)


class RuleOverrideSerializer(serializers.ModelSerializer[RuleOverride]):
    instance_id = serializers.CharField(max_length=24)
    threshold = FiniteField(
        allow_null=True,
        required=False,
        default=None,
        help_text="The threshold for this instance; null for the rule's own.",
    )
    is_exempt = serializers.BooleanField(default=False)

    class Meta:
        model = RuleOverride
        fields = ("instance_id", "threshold", "is_exempt")


class AlertRuleSerializer(serializers.ModelSerializer[AlertRule]):
    tags = serializers.DictField(child=serializers.CharField())
    instance_id = serializers.CharField(allow_null=True)
    recipients = serializers.ListField(child=serializers.EmailField())
    overrides = RuleOverrideSerializer(many=True)
    formula = serializers.SerializerMethodField()

    class Meta:
        model = AlertRule
        fields = (
            "id", "name", "description", "metric", "formula", "comparison", "threshold", "for_seconds",
            "minimum_traffic", "reminder_seconds", "severity", "scope", "tags", "instance_id", "recipients",
            "overrides", "is_enabled", "version", "created_at", "updated_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_formula(self, rule: AlertRule) -> str:
        return MEASURES[rule.metric].formula


class AlertRuleWriteSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100)
    description = serializers.CharField(max_length=500, allow_blank=True, default="")
    metric = serializers.ChoiceField(choices=sorted(MEASURES))
    comparison = serializers.ChoiceField(choices=Comparison.choices)
    threshold = FiniteField()
    for_seconds = serializers.IntegerField(min_value=0, max_value=7 * 24 * 3600, default=600)
    minimum_traffic = FiniteField(
        min_value=0,
        default=0,
        help_text="The least traffic per second, in the metric that `traffic` names, with which the rule is evaluated.",
    )
    reminder_seconds = serializers.IntegerField(min_value=0, max_value=30 * 24 * 3600, default=4 * 3600)
    severity = serializers.ChoiceField(choices=Severity.choices, default=Severity.WARNING)
    scope = serializers.ChoiceField(choices=Scope.choices, default=Scope.ALL)
    tags = MatchedTagsField(
        default=dict, help_text="The tags of the instances that the rule watches; only for the scope `tags`."
    )
    instance_id = serializers.CharField(
        max_length=24,
        allow_null=True,
        default=None,
        help_text="The instance that the rule watches; only for the scope `instance`.",
    )
    recipients = RecipientsField(
        default=list, help_text="The addresses that mails are sent to. If empty, those of the settings are used."
    )
    overrides = RuleOverrideSerializer(many=True, default=list)
    is_enabled = serializers.BooleanField(default=True)

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if given.get("scope") == Scope.TAGS and not given.get("tags"):
            raise serializers.ValidationError({"tags": "name at least one tag, or choose scope all"})
        if given.get("scope") == Scope.INSTANCE and not given.get("instance_id"):
            raise serializers.ValidationError({"instance_id": "name the instance, or choose scope all"})
        ids = [override["instance_id"] for override in given.get("overrides", [])]
        if len(ids) != len(set(ids)):
            raise serializers.ValidationError({"overrides": "one override per instance"})
        return given


class IncidentEventSerializer(serializers.ModelSerializer[IncidentEvent]):
    class Meta:
        model = IncidentEvent
        fields = ("at", "kind", "value", "detail")
        read_only_fields = fields


class IncidentSerializer(serializers.ModelSerializer[Incident]):
    rule_id = serializers.CharField(allow_null=True)
    instance_id = serializers.CharField(allow_null=True)
    state = serializers.SerializerMethodField()

    class Meta:
        model = Incident
        fields: tuple[str, ...] = (
            "id", "state", "rule_id", "rule_name", "instance_id", "instance_name", "metric", "comparison", "threshold",
            "severity", "opened_value", "last_value", "opened_at", "resolved_at", "acknowledged_at", "acknowledged_by",
        )  # fmt: skip
        read_only_fields = fields

    def get_state(self, incident: Incident) -> str:
        """open or resolved"""
        return "resolved" if incident.resolved_at else "open"


class IncidentDetailSerializer(IncidentSerializer):
    timeline = IncidentEventSerializer(source="events", many=True)
    likely_cause = serializers.SerializerMethodField()
    next_action = serializers.SerializerMethodField()
    chart_metric = serializers.SerializerMethodField()

    class Meta(IncidentSerializer.Meta):
        fields = (*IncidentSerializer.Meta.fields, "likely_cause", "next_action", "chart_metric", "timeline")
        read_only_fields = fields

    def get_likely_cause(self, incident: Incident) -> str:
        return advice_of(incident.metric).cause

    def get_next_action(self, incident: Incident) -> str:
        return advice_of(incident.metric).action

    def get_chart_metric(self, incident: Incident) -> str:
        """The metric to plot; of a state, one that shows it."""
        return chart_of(incident.metric)


class SilenceSerializer(serializers.ModelSerializer[Silence]):
    rule_id = serializers.CharField(allow_null=True)
    instance_id = serializers.CharField(allow_null=True)
    tags = serializers.DictField(child=serializers.CharField())

    class Meta:
        model = Silence
        fields = (
            "id", "rule_id", "instance_id", "tags", "reason", "starts_at", "ends_at", "created_by", "created_at",
        )  # fmt: skip
        read_only_fields = fields


class SilenceCreateSerializer(serializers.Serializer[Any]):
    """A new silence. It applies to incidents that match all of the given rule, instance and tags; a field that is left
    out matches everything.
    """

    rule_id = serializers.CharField(max_length=24, allow_null=True, default=None)
    instance_id = serializers.CharField(max_length=24, allow_null=True, default=None)
    tags = MatchedTagsField(default=dict)
    reason = serializers.CharField(max_length=200)
    starts_at = serializers.DateTimeField(required=False, help_text="When the silence starts; now if it is left out.")
    duration_seconds = serializers.IntegerField(min_value=60, max_value=YEAR_SECONDS)

    def validate_starts_at(self, at: datetime) -> datetime:
        if abs((at - timezone.now()).total_seconds()) > YEAR_SECONDS:
            raise serializers.ValidationError("at most a year from now")
        return at


class FiringSerializer(serializers.Serializer[Any]):
    instance_id = serializers.CharField()
    instance_name = serializers.CharField()
    opened_at = serializers.DateTimeField()
    resolved_at = serializers.DateTimeField(
        allow_null=True, help_text="When the incident would have ended; null if it would still be open."
    )
    opened_value = serializers.FloatField(allow_null=True)


class RulePreviewSerializer(serializers.Serializer[Any]):
    hours = serializers.IntegerField(
        help_text="The number of past hours that were examined. It is 0 for a state, because only the present "
        "value of a state is known."
    )
    instance_count = serializers.IntegerField(help_text="The number of instances that the rule watches.")
    examined_count = serializers.IntegerField(help_text="The number of those instances that were examined.")
    firings = FiringSerializer(many=True)


class TestMailSerializer(serializers.Serializer[Any]):
    to = serializers.EmailField(max_length=254)


class TestMailSentSerializer(serializers.Serializer[Any]):
    to = serializers.CharField()
    server = serializers.CharField(help_text="The SMTP server that accepted the mail.")
