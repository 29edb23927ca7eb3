from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from controlplane.accounts.models import Token
from controlplane.accounts.serializers import TokenCreatedSerializer
from controlplane.fleet.cache_state import is_server_cache_off
from controlplane.fleet.selectors import ANSWERING
from controlplane.near_caches.models import (
    NAME_LENGTH,
    OBSTACLE_LENGTH,
    SERVER_LENGTH,
    VERSION_LENGTH,
    Mode,
    NearCache,
    Source,
)
from controlplane.near_caches.reading import NAME

# The plugin has the first one for attached near caches, too (engine/crates/session/src/nears.rs).
SERVER_CACHE_OFF = "the server's cache is off"
SERVER_SILENT = "its server does not respond"
NO_LEASE = "it has no lease: its last message to the server is too old"
STATES = ("serving", "waiting", "detached")
REPORTED_MODES = [choice for choice in Mode.choices if choice[0] != Mode.EXACT]
MOST_COUNTED = 2**53 - 1  # the largest integer that every JSON reader keeps exact


class NearCacheSerializer(serializers.ModelSerializer[NearCache]):
    state = serializers.SerializerMethodField(
        help_text="`serving`: it answers reads. `waiting`: it answers none now, and `obstacle` says why. "
        "`detached`: it is gone, or has not reported for three polls; it stays in the list for a day."
    )
    obstacle = serializers.SerializerMethodField(
        help_text="Why the near cache serves nothing; for one that reports, in its own words. Empty while it serves."
    )
    writer_wait_ms = serializers.SerializerMethodField(
        help_text="How long a writer that waited for this near cache did so, on average."
    )

    class Meta:
        model = NearCache
        fields = (
            "name", "address", "source", "mode", "state", "obstacle", "version", "server", "attachment", "protocol",
            "attached_at", "seen_at", "lease_ms", "lag_ms", "staleness_ms", "tables", "entries", "stored_bytes",
            "hits", "misses", "observed_hits", "observed_different", "observed_saved_ms", "hits_per_second",
            "misses_per_second", "writers_waited", "waited_ms", "writer_wait_ms",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=STATES))
    def get_state(self, near: NearCache) -> str:
        if obstacle_of(near):
            return "waiting"
        return "serving" if near.is_attached else "detached"

    def get_obstacle(self, near: NearCache) -> str:
        return obstacle_of(near)

    @extend_schema_field(serializers.FloatField(allow_null=True))
    def get_writer_wait_ms(self, near: NearCache) -> float | None:
        return near.waited_ms / near.writers_waited if near.writers_waited else None


def obstacle_of(near: NearCache) -> str:
    """Returns why a near cache serves nothing.

    Empty if it serves, or is gone for an unknown reason. A server whose cache is off sends its near caches away, and
    they come back once it is on.
    """
    if near.source == Source.REPORTING:
        return _reported_obstacle_of(near) if near.is_attached else ""
    if near.instance.state not in ANSWERING:
        return SERVER_SILENT
    if near.is_attached and near.obstacle:
        return near.obstacle  # in the words of its server
    if is_server_cache_off(near.instance):
        return SERVER_CACHE_OFF
    return NO_LEASE if near.is_attached and near.lease_ms <= 0 else ""


def _reported_obstacle_of(near: NearCache) -> str:
    """Returns the obstacle that a near cache reports.

    By rules it asks its server nothing itself, so that it does not notice when the server is gone. It then serves only
    if it still answers reads.
    """
    is_idle = near.mode == Mode.RULES and not near.hits_per_second
    return near.obstacle or (SERVER_SILENT if is_idle and near.instance.state not in ANSWERING else "")


def counted(help_text: str, **limits: Any) -> serializers.IntegerField:
    return serializers.IntegerField(min_value=0, max_value=MOST_COUNTED, help_text=help_text, **limits)


def observed(help_text: str) -> serializers.IntegerField:
    """Returns a field for a count that a near cache reports if it only observes; it may be null, and may be left out by
    programs that cannot observe.
    """
    return counted(f"{help_text} Null: it does more than to observe.", allow_null=True, default=None)


class NearReportSerializer(serializers.Serializer[Any]):
    name = serializers.RegexField(rf"\A{NAME.pattern}\Z", max_length=NAME_LENGTH)
    life = serializers.IntegerField(
        min_value=1,
        max_value=MOST_COUNTED,
        help_text="A random number that identifies the run of the near cache's process.",
    )
    version = serializers.CharField(max_length=VERSION_LENGTH, help_text="The version of the program `fqc-near`.")
    server = serializers.CharField(
        max_length=SERVER_LENGTH, help_text="The server that the near cache connects to, as it names it."
    )
    mode = serializers.ChoiceField(choices=REPORTED_MODES)
    obstacle = serializers.CharField(
        max_length=OBSTACLE_LENGTH,
        allow_blank=True,
        help_text="Why the near cache serves nothing; empty while it serves.",
    )
    staleness_ms = serializers.FloatField(
        min_value=0,
        max_value=1e12,
        allow_null=True,
        help_text="How old the near cache's answers may be; null if it is not known.",
    )
    entries = counted("Results in memory.")
    stored_bytes = counted("Memory that they take.")
    hits = counted("Reads answered from memory since its start.")
    misses = counted("Reads that could be kept, answered by the server, since its start.")
    observed_hits = observed("Reads that it would have answered from memory.")
    observed_different = observed("Those among them that the server answered otherwise.")
    observed_saved_ms = observed("How long they took the server.")
    is_leaving = serializers.BooleanField(
        help_text="Whether this is the last report, since the near cache stops. It is then not counted as missing."
    )


class NearReportedSerializer(serializers.Serializer[Any]):
    next_seconds = serializers.IntegerField(help_text="The number of seconds after which the next report is expected.")


class NearTokenSerializer(serializers.Serializer[Token]):
    name = serializers.CharField(max_length=100)
    expires_at = serializers.DateTimeField(required=False)


class NearTokenCreatedSerializer(TokenCreatedSerializer):
    command = serializers.CharField(
        read_only=True,
        help_text="The command that starts a near cache that reports. The token must be in the file that it names.",
    )

    class Meta(TokenCreatedSerializer.Meta):
        fields = (*TokenCreatedSerializer.Meta.fields, "command")
        read_only_fields = fields
