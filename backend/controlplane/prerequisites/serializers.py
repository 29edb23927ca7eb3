from __future__ import annotations

from typing import Any

from rest_framework import serializers

from controlplane.fleet.serializers import OBSTACLE_HELP
from controlplane.near_caches.models import Mode
from controlplane.parameters.serializers import FindingSerializer
from controlplane.prerequisites.digests import Verdict
from controlplane.prerequisites.recommendation import TEXTS

ESTIMATE_VERDICTS = tuple(each.value for each in Verdict)
RECOMMENDATION_VERDICTS = sorted(TEXTS)
SIZE_RULES = ("result_set", "buffer_pool", "curve", "explicit")


class ActionSerializer(serializers.Serializer[Any]):
    route = serializers.CharField(allow_blank=True, help_text="Under the instance, to POST `body` to; may be empty.")
    body = serializers.DictField()
    statements = serializers.ListField(child=serializers.CharField(), help_text="For a person to run on the server.")


class InstanceFindingSerializer(FindingSerializer):
    """A finding with what mends it."""

    action = ActionSerializer(allow_null=True)


class PrerequisitesSerializer(serializers.Serializer[Any]):
    is_ready = serializers.BooleanField(help_text="Nothing blocks enabling the fast query cache.")
    checked_at = serializers.DateTimeField()
    findings = InstanceFindingSerializer(many=True)


class NearWaySerializer(serializers.Serializer[Any]):
    """One mode in which a near cache can serve before this server."""

    mode = serializers.ChoiceField(choices=Mode.choices)
    is_ready = serializers.BooleanField(help_text="Nothing on the server keeps a near cache from serving in this mode.")
    findings = InstanceFindingSerializer(many=True)
    statements = serializers.ListField(
        child=serializers.CharField(), help_text="For a person to run on the server: the near cache's own account."
    )
    file_lines = serializers.ListField(
        child=serializers.CharField(), help_text="What the file of rules that the command names may hold, by rules."
    )
    command = serializers.CharField(help_text="Starts a near cache on a host of the application.")
    config_lines = serializers.ListField(
        child=serializers.CharField(), help_text="The same options as the file of the packaged systemd unit."
    )
    service_lines = serializers.ListField(
        child=serializers.CharField(),
        help_text="Start that unit, once package and file are installed; for root's bash.",
    )
    docker_command = serializers.CharField(help_text="Starts the image of fqc-near on that host.")


class NearPrerequisitesSerializer(PrerequisitesSerializer):
    is_ready = serializers.BooleanField(help_text="A near cache can serve in one of the ways at least.")
    ways = NearWaySerializer(many=True, help_text="The best one first.")


class ServedConnectionsSerializer(serializers.Serializer[Any]):
    served = serializers.IntegerField(help_text="For which the cache is on.")
    all = serializers.IntegerField(help_text="Without those of the control plane.")


class HeadlineSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    unit = serializers.CharField()
    formula = serializers.CharField()
    value = serializers.FloatField(allow_null=True, help_text="null: no sample, or nothing to divide by.")


class CacheStatusSerializer(serializers.Serializer[Any]):
    has_engine = serializers.BooleanField()
    is_enabled = serializers.BooleanField()
    engine_obstacle = serializers.CharField(allow_blank=True, help_text=OBSTACLE_HELP)
    version = serializers.CharField(allow_null=True)
    minor_version = serializers.IntegerField(allow_null=True)
    type = serializers.CharField(allow_null=True)
    size_bytes = serializers.IntegerField(allow_null=True)
    limit_bytes = serializers.IntegerField(allow_null=True)
    headlines = HeadlineSerializer(many=True, help_text="Of the past hour, near caches counted in.")
    counters = serializers.DictField(child=serializers.CharField(), help_text="Qcache_* and Fqc_* as the server says.")
    connections = ServedConnectionsSerializer(allow_null=True, help_text="null: the engine does not count them.")
    reasons = serializers.ListField(child=serializers.DictField(child=serializers.CharField(allow_null=True)))
    rules = serializers.CharField(
        allow_null=True, allow_blank=True, help_text="fqc_rules as JSON; empty: none. null: an engine without rules."
    )


class SizeProposalSerializer(serializers.Serializer[Any]):
    rule = serializers.ChoiceField(choices=SIZE_RULES)
    size_bytes = serializers.IntegerField(allow_null=True)
    is_suggested = serializers.BooleanField(help_text="Whoever enables the cache without a rule gets this size.")
    explanation = serializers.CharField()


class CurvePointSerializer(serializers.Serializer[Any]):
    size_bytes = serializers.IntegerField()
    hit_ratio = serializers.FloatField()


class TableAdviceSerializer(serializers.Serializer[Any]):
    schema = serializers.CharField()
    table = serializers.CharField()
    rows_read = serializers.IntegerField()
    rows_changed = serializers.IntegerField()
    advice = serializers.ChoiceField(choices=["keep", "sql_cache", "near_rule", "leave_out", "neutral"])
    explanation = serializers.CharField()


class RecommendationSerializer(serializers.Serializer[Any]):
    verdict = serializers.ChoiceField(choices=sorted(TEXTS))
    text = serializers.CharField()
    hit_ratio = serializers.FloatField(
        allow_null=True,
        help_text="Once the cache is on, the headline of the past hour: of all reads, those that caches answered. "
        "While it is off, of the reads that can be cached, those that the curve predicts at the suggested size.",
    )
    saved_cores = serializers.FloatField(allow_null=True, help_text="Server time saved per second.")
    size_bytes = serializers.IntegerField(
        allow_null=True, help_text="Where the predicted hit ratio stops rising; null while the sample is too small."
    )
    requests = serializers.IntegerField(help_text="Reads that this is based on.")
    seconds = serializers.IntegerField(help_text="How long they were counted.")
    is_enough = serializers.BooleanField(help_text="Whether the sample is large enough.")
    enough_requests = serializers.IntegerField()
    enough_seconds = serializers.IntegerField()


class ObservationSerializer(serializers.Serializer[Any]):
    is_running = serializers.BooleanField()
    started_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()


class CacheAdviceSerializer(serializers.Serializer[Any]):
    recommendation = RecommendationSerializer()
    observation = ObservationSerializer(allow_null=True, help_text="null: the instance was never observed.")
    findings = InstanceFindingSerializer(many=True)
    sizes = SizeProposalSerializer(many=True)
    curve = CurvePointSerializer(many=True, help_text="Predicted hit ratio by size; empty if the engine has none yet.")
    tables = TableAdviceSerializer(many=True)
    tables_note = serializers.CharField(allow_blank=True, help_text="Why there is nothing on tables, if so.")
    tables_reason = serializers.CharField(allow_blank=True, help_text="The same as a stable word.")


class CacheQueriesQuerySerializer(serializers.Serializer[Any]):
    hours = serializers.IntegerField(
        min_value=0, max_value=168, default=0, help_text="What was counted in so many hours; 0: since counting began."
    )


class StatementEstimateSerializer(serializers.Serializer[Any]):
    read_time_ratio = serializers.FloatField(help_text="Share of reads in the time that the server spends.")
    sampled = serializers.IntegerField(help_text="Recent reads whose texts the server remembers.")
    repeated = serializers.IntegerField(help_text="Those of them that repeat the text of another one.")
    verdict = serializers.ChoiceField(
        choices=ESTIMATE_VERDICTS,
        help_text="What follows for a near cache. `little_time`: not worth it, since reads take little of the server's "
        "time. `unknown`: the server remembers no read's text. `small_sample`: too few reads are remembered. "
        "`few_repeat`: hardly worth it. `may_pay`: enough reads repeat.",
    )


class CacheQueriesSerializer(serializers.Serializer[Any]):
    is_available = serializers.BooleanField(help_text="Whether the server offers figures per statement.")
    source = serializers.ChoiceField(
        choices=["engine", "digests"],
        help_text="`digests`: the server has no engine, so the figures are those of its performance schema.",
    )
    estimate = StatementEstimateSerializer(
        allow_null=True, help_text="What a near cache could answer, as far as digests tell. Null with the engine."
    )
    note = serializers.CharField(allow_blank=True, help_text="Why it does not.")
    reason = serializers.CharField(allow_blank=True, help_text="The same as a stable word.")
    since = serializers.DateTimeField(
        allow_null=True,
        help_text="When the span of the figures begins: noted each hour, so near what was asked for. Null: since the "
        "server was started or its counters were set to zero.",
    )
    items = serializers.ListField(child=serializers.DictField(child=serializers.CharField(allow_null=True)))


class StatementHourSerializer(serializers.Serializer[Any]):
    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    executions = serializers.IntegerField(allow_null=True, help_text="Null: not known.")
    hits = serializers.IntegerField(allow_null=True, help_text="0 without the engine.")
    server_time_us = serializers.IntegerField(allow_null=True, help_text="Of a server without the engine; else 0.")


class StatementHoursSerializer(serializers.Serializer[Any]):
    items = StatementHourSerializer(many=True, help_text="Oldest first; an hour without a note is missing.")


class StatementExampleSerializer(serializers.Serializer[Any]):
    statement = serializers.CharField(allow_null=True, help_text="As it was executed, with its literals.")
    database = serializers.CharField(allow_null=True, help_text="In which it was executed.")
    reason = serializers.CharField(allow_blank=True, help_text="Why there is none, as a stable word.")
    note = serializers.CharField(allow_blank=True, help_text="Why there is none, and what to do.")
    remedy = serializers.ListField(
        child=serializers.CharField(), help_text="Statements to run, or lines for the server's option file."
    )


class CacheTableSerializer(serializers.Serializer[Any]):
    """Figures are null where an older engine does not count them."""

    schema = serializers.CharField()
    table = serializers.CharField()
    entries = serializers.IntegerField(allow_null=True, help_text="Results kept that read this table.")
    stored_bytes = serializers.IntegerField(allow_null=True)
    reads_cached = serializers.IntegerField(allow_null=True, help_text="Reads that the cache answered.")
    reads_server = serializers.IntegerField(allow_null=True, help_text="Reads that the server answered.")
    writes = serializers.IntegerField(allow_null=True)
    invalidations_avoided = serializers.IntegerField(
        allow_null=True, help_text="Results served after a write of other rows of the table, each counted once."
    )


class CacheTablesSerializer(serializers.Serializer[Any]):
    is_available = serializers.BooleanField(help_text="Whether the engine offers figures per table.")
    note = serializers.CharField(allow_blank=True, help_text="Why it does not.")
    reason = serializers.CharField(allow_blank=True, help_text="The same as a stable word.")
    items = CacheTableSerializer(many=True)


class TrialRequestSerializer(serializers.Serializer[Any]):
    statement = serializers.CharField(max_length=65536, help_text="One SELECT; it runs in a read-only session.")
    database = serializers.RegexField(r"\A[A-Za-z0-9_$-]{1,64}\Z", required=False)
    repetitions = serializers.IntegerField(min_value=2, max_value=1000, default=20)


class TrialLatencySerializer(serializers.Serializer[Any]):
    median_microseconds = serializers.IntegerField()
    p95_microseconds = serializers.IntegerField()


class TrialSerializer(serializers.Serializer[Any]):
    repetitions = serializers.IntegerField()
    hits = serializers.IntegerField()
    inserts = serializers.IntegerField()
    not_cached = serializers.IntegerField()
    uncached = TrialLatencySerializer()
    cached = TrialLatencySerializer()
    is_counting_shared = serializers.BooleanField(
        help_text="An older engine: hits, inserts and not_cached are the server's, other sessions count too."
    )
    is_memory_lent = serializers.BooleanField(
        help_text="query_cache_size is 0: the engine lent the trial's session memory, and nobody else is served."
    )
    reason = serializers.CharField(
        allow_blank=True, help_text="Why repetitions were not cached, by its name in the cache's status."
    )
    detail = serializers.CharField()


class MinorVersionSerializer(serializers.Serializer[Any]):
    minor_version = serializers.IntegerField()
    is_acceptable = serializers.BooleanField(help_text="Recent enough for the cache to be enabled.")
    is_offered = serializers.BooleanField(help_text="What an upgrade of a local instance leads to.")
    instance_count = serializers.IntegerField(help_text="Instances that run it.")


class MinorVersionsSerializer(serializers.Serializer[Any]):
    least_acceptable = serializers.IntegerField()
    offered = serializers.IntegerField(allow_null=True, help_text="null: this control plane has no engine to install.")
    items = MinorVersionSerializer(many=True, help_text="Newest first.")
