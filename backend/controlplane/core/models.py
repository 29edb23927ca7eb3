"""What core keeps: answers for Idempotency-Key, events for browsers, counts for rate limits, turns of periodic work."""

from __future__ import annotations

from django.db import models


class KeptAnswer(models.Model):
    """What was answered to a request with an Idempotency-Key. No status yet: the first one is still at work."""

    actor_id = models.CharField(max_length=64)
    authority = models.CharField(max_length=128)  # see request_context.Caller
    key = models.CharField(max_length=128)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    made = models.CharField(max_length=100, blank=True)  # the first thing on record, such as "changeset chg-1"
    answer_sealed = models.TextField(blank=True)  # an answer may tell what not everybody may read
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["actor_id", "authority", "key"], name="one_answer_per_key")]

    @property
    def secret_context(self) -> str:
        return f"kept answer {self.actor_id} {self.authority} {self.key}"


class Event(models.Model):
    """Kept for an hour, so that a browser that was away catches up by the last id it saw."""

    id = models.BigAutoField(primary_key=True)
    topic = models.CharField(max_length=32)  # one of events.TOPICS
    subject = models.CharField(max_length=64)
    facts = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)


class RateCount(models.Model):
    """How often somebody did something in one window of time."""

    name = models.CharField(max_length=128)
    window = models.BigIntegerField()
    count = models.PositiveIntegerField()

    class Meta:
        indexes = [models.Index(fields=["window"], name="rate_count_window")]
        constraints = [models.UniqueConstraint(fields=["name", "window"], name="one_count_per_name_and_window")]


class Clock(models.Model):
    """When periodic work is due next. Whoever moves it forward does the work; the others find nothing due."""

    name = models.CharField(primary_key=True, max_length=32)
    due_at = models.FloatField(default=0)

    class Meta:
        db_table = "metrics_clock"  # it began among the metrics
