"""The rules of the cache over HTTP: read, and preview. They are set by a change of `fqc_rules`."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts.permissions import ViewerOnly
from controlplane.changes.rules_planning import rules_get, rules_preview
from controlplane.changes.serializers import ChangePreviewSerializer
from controlplane.changes.views import checked
from controlplane.core.views import ApiView
from controlplane.fleet.selectors import instance_get
from controlplane.prerequisites.rule_list import ACTIONS


class RuleSerializer(serializers.Serializer[Any]):
    digest = serializers.CharField(required=False, allow_null=True)
    table = serializers.CharField(required=False, allow_null=True, help_text="schema.table; % stands for any text.")
    schema = serializers.CharField(required=False, allow_null=True)
    account = serializers.CharField(required=False, allow_null=True, help_text="user@host")
    cache = serializers.ChoiceField(choices=ACTIONS)
    ttl = serializers.IntegerField(required=False, allow_null=True, help_text="Seconds, with `always`.")


class RuleDraftSerializer(serializers.Serializer[Any]):
    """Whatever is written, so that each mistake is told at its rule."""

    digest = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=4096)
    table = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=4096)
    schema = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=4096)
    account = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=4096)
    cache = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=64)
    ttl = serializers.IntegerField(required=False, allow_null=True)


class RulesPreviewRequestSerializer(serializers.Serializer[Any]):
    rules = RuleDraftSerializer(many=True, max_length=500, help_text="All rules, in their order; none: an empty list.")


class RuleEffectSerializer(serializers.Serializer[Any]):
    index = serializers.IntegerField()
    matched = serializers.IntegerField(help_text="Statements that this rule is the first to fit.")
    executions = serializers.IntegerField(help_text="Of these statements, since the engine's counters began.")
    is_by_account = serializers.BooleanField(help_text="It decides for this account alone; others go on to the next.")
    examples = serializers.ListField(child=serializers.CharField())


class RuleErrorSerializer(serializers.Serializer[Any]):
    index = serializers.IntegerField(allow_null=True)
    field = serializers.CharField(allow_blank=True)
    code = serializers.CharField()
    detail = serializers.CharField()


class ExplainedSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(allow_blank=True, help_text="The value of fqc_rules; empty: no rules.")
    effects = RuleEffectSerializer(many=True)
    statements = serializers.IntegerField(help_text="Shapes of statements that the engine knows.")
    statements_without_tables = serializers.IntegerField(help_text="No result of them was stored yet.")
    note = serializers.CharField(allow_blank=True, help_text="Why no statements are known.")


class RulesSerializer(ExplainedSerializer):
    rules = RuleSerializer(many=True)


class RulesPreviewSerializer(ExplainedSerializer):
    errors = RuleErrorSerializer(many=True)
    change = ChangePreviewSerializer(allow_null=True, help_text="null: a rule is wrong.")


class CacheRules(ApiView):
    @extend_schema(operation_id="instances_cache_rules", responses=RulesSerializer)
    def get(self, request: Request, pk: str) -> Response:
        """The rules in their order, as the server has them now, and which statements each decides."""
        return Response(RulesSerializer(rules_get(instance_get(pk))).data)


class CacheRulesPreview(ApiView):
    permission_classes = (ViewerOnly,)

    @extend_schema(
        operation_id="instances_cache_rules_preview",
        request=RulesPreviewRequestSerializer,
        responses=RulesPreviewSerializer,
    )
    def post(self, request: Request, pk: str) -> Response:
        """What other rules would do: what is wrong with which, which statements each decides, and the change."""
        given = checked(RulesPreviewRequestSerializer, request)
        return Response(RulesPreviewSerializer(rules_preview(instance_get(pk), given["rules"])).data)
