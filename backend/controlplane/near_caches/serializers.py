from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from controlplane.near_caches.models import NearCache

STATES = ("serving", "waiting", "detached")


class NearCacheSerializer(serializers.ModelSerializer[NearCache]):
    state = serializers.SerializerMethodField(
        help_text="serving: its lease runs. waiting: it is attached, without a lease. detached: it is gone, and stays "
        "in the list for a day."
    )
    writer_wait_ms = serializers.SerializerMethodField(
        help_text="How long a writer that waited for it did, on average."
    )

    class Meta:
        model = NearCache
        fields = (
            "name", "address", "state", "attachment", "protocol", "attached_at", "seen_at", "lease_ms", "lag_ms",
            "tables", "entries", "stored_bytes", "hits", "misses", "hits_per_second", "misses_per_second",
            "writers_waited", "waited_ms", "writer_wait_ms",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=STATES))
    def get_state(self, near: NearCache) -> str:
        if not near.is_attached:
            return "detached"
        return "serving" if near.lease_ms > 0 else "waiting"

    @extend_schema_field(serializers.FloatField(allow_null=True))
    def get_writer_wait_ms(self, near: NearCache) -> float | None:
        return near.waited_ms / near.writers_waited if near.writers_waited else None
