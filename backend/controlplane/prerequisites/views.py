"""Checks, status, advice and the trial of the fast query cache. None of them alters a server."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts.permissions import role_in_force
from controlplane.core.views import ApiView
from controlplane.fleet.selectors import instance_get
from controlplane.prerequisites import advice, check, example, near_caches, status, trial
from controlplane.prerequisites.minor_versions import minor_version_list
from controlplane.prerequisites.serializers import (
    CacheAdviceSerializer,
    CacheQueriesQuerySerializer,
    CacheQueriesSerializer,
    CacheStatusSerializer,
    CacheTablesSerializer,
    MinorVersionsSerializer,
    NearPrerequisitesSerializer,
    PrerequisitesSerializer,
    StatementExampleSerializer,
    StatementHoursSerializer,
    TrialRequestSerializer,
    TrialSerializer,
)
from controlplane.statements.selectors import statement_hours


class MinorVersionsView(ApiView):
    @extend_schema(operation_id="minor_versions", responses=MinorVersionsSerializer)
    def get(self, request: Request) -> Response:
        """Minor versions of the engine: the one that upgrades install, those that run, and the least acceptable."""
        return Response(MinorVersionsSerializer(minor_version_list()).data)


class PrerequisitesView(ApiView):
    @extend_schema(operation_id="instances_prerequisites", responses=PrerequisitesSerializer)
    def get(self, request: Request, pk: str) -> Response:
        """Whether the fast query cache may be enabled, checked against the live server."""
        return Response(PrerequisitesSerializer(check.instance_check(instance_get(pk))).data)


class NearPrerequisitesView(ApiView):
    @extend_schema(operation_id="instances_near_prerequisites", responses=NearPrerequisitesSerializer)
    def get(self, request: Request, pk: str) -> Response:
        """Whether near caches may attach to the live server and pay there, and how to start one."""
        return Response(NearPrerequisitesSerializer(near_caches.near_caches_check(instance_get(pk))).data)


class CacheStatusView(ApiView):
    @extend_schema(operation_id="instances_cache_status", responses=CacheStatusSerializer)
    def get(self, request: Request, pk: str) -> Response:
        """The cache's settings and counters as the server has them now."""
        return Response(CacheStatusSerializer(status.cache_status(instance_get(pk))).data)


class CacheAdviceView(ApiView):
    @extend_schema(operation_id="instances_cache_advice", responses=CacheAdviceSerializer)
    def get(self, request: Request, pk: str) -> Response:
        """How large the cache should be by each rule, and which tables gain from it."""
        return Response(CacheAdviceSerializer(advice.cache_advice(instance_get(pk))).data)


class CacheQueriesView(ApiView):
    @extend_schema(
        operation_id="instances_cache_queries",
        parameters=[CacheQueriesQuerySerializer],
        responses=CacheQueriesSerializer,
    )
    def get(self, request: Request, pk: str) -> Response:
        """Figures per shape of statement: the engine's, or of a server without it those of its performance schema."""
        asked = CacheQueriesQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        found = status.cache_queries(instance_get(pk), asked.validated_data["hours"])
        return Response(CacheQueriesSerializer(found).data)


class StatementHoursView(ApiView):
    @extend_schema(operation_id="instances_cache_query_hours", responses=StatementHoursSerializer)
    def get(self, request: Request, pk: str, digest: str) -> Response:
        """Report what the statement with this digest did in each hour of the last day."""
        return Response(StatementHoursSerializer({"items": statement_hours(instance_get(pk), digest)}).data)


class StatementExampleView(ApiView):
    @extend_schema(operation_id="instances_cache_query_example", responses=StatementExampleSerializer)
    def get(self, request: Request, pk: str, digest: str) -> Response:
        """A recent execution of the statement with this digest, with its literals. Takes the role that trials take."""
        example.example_allow(role_in_force(request))
        return Response(StatementExampleSerializer(example.example_find(instance_get(pk), digest)).data)


class CacheTablesView(ApiView):
    @extend_schema(operation_id="instances_cache_tables", responses=CacheTablesSerializer)
    def get(self, request: Request, pk: str) -> Response:
        """The engine's figures per table: what is kept of it, who answered its reads, what writes left valid."""
        return Response(CacheTablesSerializer(status.cache_tables(instance_get(pk))).data)


class CacheTrialView(ApiView):
    @extend_schema(operation_id="instances_cache_trial", request=TrialRequestSerializer, responses=TrialSerializer)
    def post(self, request: Request, pk: str) -> Response:
        """Try the cache with one statement on one connection of its own; nothing global changes."""
        given = TrialRequestSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        trial.trial_allow(role_in_force(request))
        return Response(TrialSerializer(trial.trial_run(instance_get(pk), **given.validated_data)).data)
