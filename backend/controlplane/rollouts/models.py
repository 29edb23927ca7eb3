"""Fleet applies: a template, or a build of the engine, for many instances, as previewed, with one item per instance."""

from __future__ import annotations

from functools import partial

from django.db import models

from controlplane.changes.models import ChangeSet
from controlplane.changes.states import When
from controlplane.core.ids import ID_LENGTH, new_id
from controlplane.fleet.models import Instance
from controlplane.parameters.models import Template
from controlplane.rollouts.states import ApplyKind, ApplyState, ItemState


class FleetApply(models.Model):
    id = models.CharField(primary_key=True, max_length=ID_LENGTH, default=partial(new_id, "fla"), editable=False)
    kind = models.CharField(max_length=12, choices=ApplyKind.choices, default=ApplyKind.PARAMETERS)
    template = models.ForeignKey(Template, on_delete=models.SET_NULL, null=True, related_name="fleet_applies")
    template_name = models.CharField(max_length=64, blank=True)
    template_version = models.PositiveIntegerField(default=0)
    minor_version = models.PositiveIntegerField(null=True, help_text="Of the engine that an upgrade installs.")
    library_digest = models.CharField(max_length=64, blank=True, help_text="Of its file at the preview.")
    settle_seconds = models.PositiveIntegerField(default=0, help_text="How long each wave of an upgrade is watched.")
    max_p95_percent = models.PositiveIntegerField(
        null=True, help_text="Of an upgrade: how long statements may take after it, in percent of before."
    )
    values = models.JSONField(help_text="Of the template at the preview: later versions do not matter.")
    parallelism = models.PositiveIntegerField(default=5)
    max_failures = models.PositiveIntegerField(default=0, help_text="One more failure stops it.")
    allow_restart = models.BooleanField(default=False)
    needs_admin = models.BooleanField(default=False, help_text="Only administrators may start it.")
    note = models.CharField(max_length=500, blank=True)
    when = models.CharField(max_length=8, choices=When.choices, default=When.NOW)
    at = models.DateTimeField(null=True)
    reverts = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="reverted_by")
    state = models.CharField(max_length=12, choices=ApplyState.choices, default=ApplyState.PREVIEWED)
    created_by = models.CharField(max_length=150)
    created_by_id = models.CharField(max_length=ID_LENGTH, blank=True)
    started_by = models.CharField(max_length=150, blank=True)
    started_by_id = models.CharField(max_length=ID_LENGTH, blank=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = [models.Index(fields=["-created_at", "-id"], name="fleet_apply_newest")]

    @property
    def name(self) -> str:
        """The name for users: the audit trail shows it instead of the id."""
        subject = self.minor_version if self.kind == ApplyKind.UPGRADE else self.template_name
        return f"{self.get_kind_display()}: {subject}"


class FleetApplyItem(models.Model):
    fleet_apply = models.ForeignKey(FleetApply, on_delete=models.CASCADE, related_name="items")
    instance = models.ForeignKey(Instance, on_delete=models.SET_NULL, null=True)
    instance_name = models.CharField(max_length=64)
    instance_version = models.PositiveIntegerField()
    change = models.ForeignKey(ChangeSet, on_delete=models.SET_NULL, null=True)
    reverts = models.ForeignKey(
        ChangeSet, on_delete=models.SET_NULL, null=True, related_name="+", help_text="What it takes back."
    )
    state = models.CharField(max_length=12, choices=ItemState.choices, default=ItemState.PENDING)
    detail = models.TextField(blank=True)
    lines = models.JSONField(default=list)
    needs_restart = models.BooleanField(default=False)
    dispatched_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    passed_at = models.DateTimeField(null=True, help_text="When the gates let an upgraded instance pass.")
    p95_before_ms = models.FloatField(
        null=True, help_text="Response time, 95th percentile, in the hour before an upgrade."
    )
    p95_after_ms = models.FloatField(null=True, help_text="The same after it.")

    class Meta:
        ordering = ("id",)
        indexes = [models.Index(fields=["fleet_apply", "state"], name="item_state")]
        constraints = [models.UniqueConstraint(fields=["fleet_apply", "instance"], name="one_item_per_instance")]
