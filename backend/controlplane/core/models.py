"""Rows of core: answers kept for Idempotency-Key, events for browsers, counts for rate limits, due times of periodic
work.
"""

from __future__ import annotations

from django.db import models


class KeptAnswer(models.Model):
    """The answer to a request with an Idempotency-Key. The status is null while the first request is still at work."""

    actor_id = models.CharField(max_length=64)
    authority = models.CharField(max_length=128)  # the token, access key or session, see request_context.Caller
    key = models.CharField(max_length=128)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    # the first object that the request changed, such as "changeset chg-1"
    made = models.CharField(max_length=100, blank=True)
    answer_sealed = models.TextField(blank=True)  # sealed, since an answer may contain what not everybody may read
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["actor_id", "authority", "key"], name="one_answer_per_key")]

    @property
    def secret_context(self) -> str:
        return f"kept answer {self.actor_id} {self.authority} {self.key}"


class Event(models.Model):
    """Something that happened, for browsers: they receive it as a server-sent event.

    It is kept for an hour, so that a browser that was away can continue from the last id it saw.
    """

    id = models.BigAutoField(primary_key=True)
    topic = models.CharField(max_length=32)  # one of events.TOPICS
    subject = models.CharField(max_length=64)
    facts = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)


class RateCount(models.Model):
    """How many times a caller did one thing in one time window, in all processes together."""

    name = models.CharField(max_length=128)
    window = models.BigIntegerField()
    count = models.PositiveIntegerField()

    class Meta:
        indexes = [models.Index(fields=["window"], name="rate_count_window")]
        constraints = [models.UniqueConstraint(fields=["name", "window"], name="one_count_per_name_and_window")]


class Clock(models.Model):
    """The next due time of periodic work, or the time when something was last done, in epoch seconds.

    The process that moves a due time forward does the work; the others find nothing due.
    """

    name = models.CharField(primary_key=True, max_length=32)
    due_at = models.FloatField(default=0)

    class Meta:
        db_table = "metrics_clock"  # the old name, since the model was once part of the metrics app
