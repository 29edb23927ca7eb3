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
    table = serializers.CharField(
        required=False,
        allow_null=True,
        help_text="The table that a statement must read, as `schema.table`; `%` stands for any text.",
    )
    schema = serializers.CharField(required=False, allow_null=True)
    account = serializers.CharField(
        required=False, allow_null=True, help_text="The account that must run the statement, as `user@host`."
    )
    cache = serializers.ChoiceField(choices=ACTIONS)
    ttl = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text="How many seconds a result is served even if it is stale; only with `always`.",
    )


class RuleDraftSerializer(serializers.Serializer[Any]):
    """A rule as it was typed. Any text is accepted in any field, so that each mistake is reported with the rule that it
    is in.
    """

    digest = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=4096)
    table = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=4096)
    schema = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=4096)
    account = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=4096)
    cache = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=64)
    ttl = serializers.IntegerField(required=False, allow_null=True)


class RulesPreviewRequestSerializer(serializers.Serializer[Any]):
    rules = RuleDraftSerializer(
        many=True, max_length=500, help_text="All rules, in their order. An empty list means no rules."
    )


class RuleEffectSerializer(serializers.Serializer[Any]):
    index = serializers.IntegerField()
    matched = serializers.IntegerField(
        help_text="The number of recorded statements that this rule is the first to match."
    )
    executions = serializers.IntegerField(
        help_text="How often these statements were executed since the engine began to count."
    )
    is_by_account = serializers.BooleanField(
        help_text="Whether the rule names an account. It then decides for that account only; statements of other "
        "accounts are decided by the next rules."
    )
    examples = serializers.ListField(child=serializers.CharField())


class RuleErrorSerializer(serializers.Serializer[Any]):
    index = serializers.IntegerField(allow_null=True)
    field = serializers.CharField(allow_blank=True)
    code = serializers.CharField()
    detail = serializers.CharField()


class ExplainedSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(
        allow_blank=True, help_text="The value of the variable fqc_rules; empty if there are no rules."
    )
    effects = RuleEffectSerializer(many=True)
    statements = serializers.IntegerField(help_text="The number of shapes of statements that the engine has recorded.")
    statements_without_tables = serializers.IntegerField(
        help_text="The number of those statements whose tables are not known, since no result of them was stored yet."
    )
    note = serializers.CharField(
        allow_blank=True, help_text="Why the engine has recorded no statements; empty if it has."
    )


class RulesSerializer(ExplainedSerializer):
    rules = RuleSerializer(many=True)


class RulesPreviewSerializer(ExplainedSerializer):
    errors = RuleErrorSerializer(many=True)
    change = ChangePreviewSerializer(
        allow_null=True, help_text="What the change set would do that stores these rules; null if a rule is wrong."
    )


class CacheRules(ApiView):
    @extend_schema(operation_id="instances_cache_rules", responses=RulesSerializer)
    def get(self, request: Request, pk: str) -> Response:
        """Returns the cache's rules in their order, as the server has them now, each with the recorded statements that
        it is the first to match.
        """
        return Response(RulesSerializer(rules_get(instance_get(pk))).data)


class CacheRulesPreview(ApiView):
    permission_classes = (ViewerOnly,)

    @extend_schema(
        operation_id="instances_cache_rules_preview",
        request=RulesPreviewRequestSerializer,
        responses=RulesPreviewSerializer,
    )
    def post(self, request: Request, pk: str) -> Response:
        """Returns what these rules would do: the mistakes in each, the recorded statements that each is the first to
        match, and the change set that would store them. Nothing is changed.
        """
        given = checked(RulesPreviewRequestSerializer, request)
        return Response(RulesPreviewSerializer(rules_preview(instance_get(pk), given["rules"])).data)
