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
        """Returns the minor versions of the engine: the one that an upgrade installs, those that run on instances, and
        the least one with which the cache may be enabled.
        """
        return Response(MinorVersionsSerializer(minor_version_list()).data)


class PrerequisitesView(ApiView):
    @extend_schema(operation_id="instances_prerequisites", responses=PrerequisitesSerializer)
    def get(self, request: Request, pk: str) -> Response:
        """Checks on the running server whether the fast query cache may be enabled, and returns the findings."""
        return Response(PrerequisitesSerializer(check.instance_check(instance_get(pk))).data)


class NearPrerequisitesView(ApiView):
    @extend_schema(operation_id="instances_near_prerequisites", responses=NearPrerequisitesSerializer)
    def get(self, request: Request, pk: str) -> Response:
        """Checks on the running server in which modes near caches can serve for it and whether they pay, and returns
        how to start one.
        """
        return Response(NearPrerequisitesSerializer(near_caches.near_caches_check(instance_get(pk))).data)


class CacheStatusView(ApiView):
    @extend_schema(operation_id="instances_cache_status", responses=CacheStatusSerializer)
    def get(self, request: Request, pk: str) -> Response:
        """Returns the settings and counters of the cache as the server has them now."""
        return Response(CacheStatusSerializer(status.cache_status(instance_get(pk))).data)


class CacheAdviceView(ApiView):
    @extend_schema(operation_id="instances_cache_advice", responses=CacheAdviceSerializer)
    def get(self, request: Request, pk: str) -> Response:
        """Returns how large the cache should be by each rule for its size, and which tables gain from it."""
        return Response(CacheAdviceSerializer(advice.cache_advice(instance_get(pk))).data)


class CacheQueriesView(ApiView):
    @extend_schema(
        operation_id="instances_cache_queries",
        parameters=[CacheQueriesQuerySerializer],
        responses=CacheQueriesSerializer,
    )
    def get(self, request: Request, pk: str) -> Response:
        """Returns figures for each shape of statement (a statement without its literals). They are the engine's, or,
        for a server without the engine, those of its performance schema.
        """
        asked = CacheQueriesQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        found = status.cache_queries(instance_get(pk), asked.validated_data["hours"])
        return Response(CacheQueriesSerializer(found).data)


class StatementHoursView(ApiView):
    @extend_schema(operation_id="instances_cache_query_hours", responses=StatementHoursSerializer)
    def get(self, request: Request, pk: str, digest: str) -> Response:
        """Returns the figures of the statement with this digest for each hour of the last day."""
        return Response(StatementHoursSerializer({"items": statement_hours(instance_get(pk), digest)}).data)


class StatementExampleView(ApiView):
    @extend_schema(operation_id="instances_cache_query_example", responses=StatementExampleSerializer)
    def get(self, request: Request, pk: str, digest: str) -> Response:
        """Returns a recent execution of the statement with this digest, with its literals. The caller needs the role
        that may run trials.
        """
        example.example_allow(role_in_force(request))
        return Response(StatementExampleSerializer(example.example_find(instance_get(pk), digest)).data)


class CacheTablesView(ApiView):
    @extend_schema(operation_id="instances_cache_tables", responses=CacheTablesSerializer)
    def get(self, request: Request, pk: str) -> Response:
        """Returns the engine's figures for each table: the stored results that read it, what answered its reads, and
        how many results its writes did not invalidate.
        """
        return Response(CacheTablesSerializer(status.cache_tables(instance_get(pk))).data)


class CacheTrialView(ApiView):
    @extend_schema(operation_id="instances_cache_trial", request=TrialRequestSerializer, responses=TrialSerializer)
    def post(self, request: Request, pk: str) -> Response:
        """Runs one statement repeatedly with and without the cache, on a connection of its own, and returns times and
        counts. Other sessions are not affected.
        """
        given = TrialRequestSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        trial.trial_allow(role_in_force(request))
        return Response(TrialSerializer(trial.trial_run(instance_get(pk), **given.validated_data)).data)
