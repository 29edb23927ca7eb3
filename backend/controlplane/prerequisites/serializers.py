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
    route = serializers.CharField(
        allow_blank=True, help_text="The path below the instance to POST `body` to. Empty if there is no such request."
    )
    body = serializers.DictField()
    statements = serializers.ListField(
        child=serializers.CharField(), help_text="SQL statements for a person to run on the server."
    )


class InstanceFindingSerializer(FindingSerializer):
    """A finding of a check, together with the request or the statements that fix it."""

    action = ActionSerializer(allow_null=True)


class PrerequisitesSerializer(serializers.Serializer[Any]):
    is_ready = serializers.BooleanField(help_text="Whether nothing prevents enabling the fast query cache.")
    checked_at = serializers.DateTimeField()
    findings = InstanceFindingSerializer(many=True)


class NearWaySerializer(serializers.Serializer[Any]):
    """One mode in which a near cache can serve in front of this server, with what is missing and how to start one."""

    mode = serializers.ChoiceField(choices=Mode.choices)
    is_ready = serializers.BooleanField(
        help_text="Whether nothing on the server prevents a near cache from serving in this mode."
    )
    findings = InstanceFindingSerializer(many=True)
    statements = serializers.ListField(
        child=serializers.CharField(),
        help_text="SQL statements for a person to run on the server, which create the account of the near cache.",
    )
    file_lines = serializers.ListField(
        child=serializers.CharField(),
        help_text="In the mode `rules`: a proposal for the content of the file of rules that the command names.",
    )
    command = serializers.CharField(help_text="The command that starts a near cache on a host of the application.")
    config_lines = serializers.ListField(
        child=serializers.CharField(),
        help_text="The same options as lines of the configuration file that the packaged systemd unit reads.",
    )
    service_lines = serializers.ListField(
        child=serializers.CharField(),
        help_text="Commands for root's bash that start this unit, once the package and the file are installed.",
    )
    docker_command = serializers.CharField(
        help_text="The command that starts a near cache in a container, on a host of the application."
    )


class NearPrerequisitesSerializer(PrerequisitesSerializer):
    is_ready = serializers.BooleanField(help_text="Whether a near cache can serve in at least one of the ways.")
    ways = NearWaySerializer(many=True, help_text="The modes in which a near cache can serve, the best one first.")


class ServedConnectionsSerializer(serializers.Serializer[Any]):
    served = serializers.IntegerField(help_text="The number of connections for which the cache is on.")
    all = serializers.IntegerField(help_text="The number of all connections except those of the control plane.")


class HeadlineSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    unit = serializers.CharField()
    formula = serializers.CharField()
    value = serializers.FloatField(
        allow_null=True,
        help_text="The figure; null if there is no sample, or if it has no value, for example because its "
        "denominator is 0.",
    )


class CacheStatusSerializer(serializers.Serializer[Any]):
    has_engine = serializers.BooleanField()
    is_enabled = serializers.BooleanField()
    engine_obstacle = serializers.CharField(allow_blank=True, help_text=OBSTACLE_HELP)
    version = serializers.CharField(allow_null=True)
    minor_version = serializers.IntegerField(allow_null=True)
    type = serializers.CharField(allow_null=True)
    size_bytes = serializers.IntegerField(allow_null=True)
    limit_bytes = serializers.IntegerField(allow_null=True)
    headlines = HeadlineSerializer(
        many=True, help_text="The key figures of the past hour, including the reads that near caches answered."
    )
    counters = serializers.DictField(
        child=serializers.CharField(), help_text="The server's status variables Qcache_* and Fqc_*."
    )
    connections = ServedConnectionsSerializer(
        allow_null=True, help_text="The server's connections; null if the engine does not count them."
    )
    reasons = serializers.ListField(child=serializers.DictField(child=serializers.CharField(allow_null=True)))
    rules = serializers.CharField(
        allow_null=True,
        allow_blank=True,
        help_text="The value of the variable fqc_rules, as JSON: empty if there are no rules, null if the engine "
        "does not support rules.",
    )


class SizeProposalSerializer(serializers.Serializer[Any]):
    rule = serializers.ChoiceField(choices=SIZE_RULES)
    size_bytes = serializers.IntegerField(allow_null=True)
    is_suggested = serializers.BooleanField(
        help_text="Whether the cache gets this size if it is enabled without naming a rule."
    )
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
        help_text="If the cache is on: the share of all reads of the past hour that caches answered. If it is off:"
        " the share of the cacheable reads that the curve predicts to be hits at the suggested size.",
    )
    saved_cores = serializers.FloatField(
        allow_null=True, help_text="The server time that the cache saves or would save, in seconds per second."
    )
    size_bytes = serializers.IntegerField(
        allow_null=True,
        help_text="The size beyond which the predicted hit ratio hardly rises; null while the sample is too small.",
    )
    requests = serializers.IntegerField(help_text="The number of reads that the recommendation is based on.")
    seconds = serializers.IntegerField(help_text="For how many seconds the reads were counted.")
    is_enough = serializers.BooleanField(help_text="Whether there were enough reads for a recommendation.")
    enough_requests = serializers.IntegerField()
    enough_seconds = serializers.IntegerField()


class ObservationSerializer(serializers.Serializer[Any]):
    is_running = serializers.BooleanField()
    started_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()


class CacheAdviceSerializer(serializers.Serializer[Any]):
    recommendation = RecommendationSerializer()
    observation = ObservationSerializer(
        allow_null=True, help_text="The last observation; null if the instance was never observed."
    )
    findings = InstanceFindingSerializer(many=True)
    sizes = SizeProposalSerializer(many=True)
    curve = CurvePointSerializer(
        many=True, help_text="The predicted hit ratio by size of the cache; empty if the engine has no prediction yet."
    )
    tables = TableAdviceSerializer(many=True)
    tables_note = serializers.CharField(
        allow_blank=True, help_text="Why there is no advice on tables; empty if there is some."
    )
    tables_reason = serializers.CharField(allow_blank=True, help_text="The stable code of the note.")


class CacheQueriesQuerySerializer(serializers.Serializer[Any]):
    hours = serializers.IntegerField(
        min_value=0,
        max_value=168,
        default=0,
        help_text="The figures of the last so many hours. With 0, those since the server began to count.",
    )


class StatementEstimateSerializer(serializers.Serializer[Any]):
    read_time_ratio = serializers.FloatField(
        help_text="The share of reads in the time that the server spends on statements."
    )
    sampled = serializers.IntegerField(help_text="The number of recent reads whose texts the server remembers.")
    repeated = serializers.IntegerField(help_text="The number of those reads that have the same text as another one.")
    verdict = serializers.ChoiceField(
        choices=ESTIMATE_VERDICTS,
        help_text="What follows for a near cache. `little_time`: not worth it, since reads take little of the server's "
        "time. `unknown`: the server remembers no read's text. `small_sample`: too few reads are remembered. "
        "`few_repeat`: hardly worth it. `may_pay`: enough reads repeat.",
    )


class CacheQueriesSerializer(serializers.Serializer[Any]):
    is_available = serializers.BooleanField(help_text="Whether the server has figures per statement.")
    source = serializers.ChoiceField(
        choices=["engine", "digests"],
        help_text="Where the figures come from: the `engine`, or, for a server without it, the `digests` of its "
        "performance schema.",
    )
    estimate = StatementEstimateSerializer(
        allow_null=True,
        help_text="An estimate of what a near cache could answer, from the server's performance schema. Null with "
        "the engine.",
    )
    note = serializers.CharField(allow_blank=True, help_text="Why there are no figures; empty if there are some.")
    reason = serializers.CharField(allow_blank=True, help_text="The stable code of the note.")
    since = serializers.DateTimeField(
        allow_null=True,
        help_text="The start of the span of the figures. Counts are stored once an hour, so it may differ a little"
        " from the requested one. Null if the span begins when the server was started or its counters "
        "were set to zero.",
    )
    items = serializers.ListField(child=serializers.DictField(child=serializers.CharField(allow_null=True)))


class StatementHourSerializer(serializers.Serializer[Any]):
    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    executions = serializers.IntegerField(
        allow_null=True, help_text="The number of executions in this hour; null if it is not known."
    )
    hits = serializers.IntegerField(
        allow_null=True, help_text="The number of executions that the cache answered; 0 without the engine."
    )
    server_time_us = serializers.IntegerField(
        allow_null=True,
        help_text="The time that the server spent on the statement, in microseconds. 0 for a server with the engine.",
    )


class StatementHoursSerializer(serializers.Serializer[Any]):
    items = StatementHourSerializer(
        many=True, help_text="The hours, the oldest first. An hour for which nothing was stored is missing."
    )


class StatementExampleSerializer(serializers.Serializer[Any]):
    statement = serializers.CharField(allow_null=True, help_text="The statement as it was executed, with its literals.")
    database = serializers.CharField(
        allow_null=True, help_text="The current database of the session that executed the statement."
    )
    reason = serializers.CharField(
        allow_blank=True,
        help_text="The stable code of the reason why there is no recorded execution; empty if there is one.",
    )
    note = serializers.CharField(allow_blank=True, help_text="Why there is no recorded execution, and what to do.")
    remedy = serializers.ListField(
        child=serializers.CharField(),
        help_text="How to fix that: statements to run, or lines for the server's option file.",
    )


class CacheTableSerializer(serializers.Serializer[Any]):
    """The engine's figures about one table. A figure is null if the engine is too old to count it."""

    schema = serializers.CharField()
    table = serializers.CharField()
    entries = serializers.IntegerField(
        allow_null=True, help_text="The number of stored results that depend on this table."
    )
    stored_bytes = serializers.IntegerField(allow_null=True)
    reads_cached = serializers.IntegerField(
        allow_null=True, help_text="The number of reads of the table that the cache answered."
    )
    reads_server = serializers.IntegerField(
        allow_null=True, help_text="The number of reads of the table that the server answered."
    )
    writes = serializers.IntegerField(allow_null=True)
    invalidations_avoided = serializers.IntegerField(
        allow_null=True,
        help_text="The number of results that were served although other rows of the table had been written since,"
        " each counted once.",
    )


class CacheTablesSerializer(serializers.Serializer[Any]):
    is_available = serializers.BooleanField(help_text="Whether the engine has figures per table.")
    note = serializers.CharField(allow_blank=True, help_text="Why there are no figures; empty if there are some.")
    reason = serializers.CharField(allow_blank=True, help_text="The stable code of the note.")
    items = CacheTableSerializer(many=True)


class TrialRequestSerializer(serializers.Serializer[Any]):
    statement = serializers.CharField(
        max_length=65536, help_text="The statement to try: a single SELECT, which runs in a read-only session."
    )
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
        help_text="Whether hits, inserts and not_cached are those of all sessions of the server, because the "
        "engine is too old to count a session of its own."
    )
    is_memory_lent = serializers.BooleanField(
        help_text="Whether query_cache_size is 0, so that the engine has lent memory to the trial's session and "
        "serves no other session."
    )
    reason = serializers.CharField(
        allow_blank=True, help_text="The name of the reason why repetitions were not cached, as in the cache's status."
    )
    detail = serializers.CharField()


class MinorVersionSerializer(serializers.Serializer[Any]):
    minor_version = serializers.IntegerField()
    is_acceptable = serializers.BooleanField(
        help_text="Whether this version is recent enough for the cache to be enabled."
    )
    is_offered = serializers.BooleanField(
        help_text="Whether this is the version that an upgrade of a local instance installs."
    )
    instance_count = serializers.IntegerField(help_text="The number of instances that run this version.")


class MinorVersionsSerializer(serializers.Serializer[Any]):
    least_acceptable = serializers.IntegerField()
    offered = serializers.IntegerField(
        allow_null=True,
        help_text="The version that an upgrade installs; null if this control plane has no engine to install.",
    )
    items = MinorVersionSerializer(many=True, help_text="The versions, the newest first.")
