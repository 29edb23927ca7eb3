"""Change sets: the request, its lines, the steps that carry it out, and the result. The rows are authoritative."""

from __future__ import annotations

from functools import partial

from django.db import models

from controlplane.changes.states import AT_WORK, ChangeState, Kind, StepKind, StepState, When
from controlplane.core.ids import ID_LENGTH, new_id
from controlplane.fleet.models import Instance
from controlplane.parameters.models import Template


class ChangeSet(models.Model):
    id = models.CharField(primary_key=True, max_length=ID_LENGTH, default=partial(new_id, "chg"), editable=False)
    # A deleted instance leaves its history behind.
    instance = models.ForeignKey(Instance, on_delete=models.SET_NULL, null=True, related_name="changes")
    instance_name = models.CharField(max_length=64)
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.PARAMETERS)
    state = models.CharField(max_length=12, choices=ChangeState.choices, default=ChangeState.PREVIEWED)
    note = models.CharField(max_length=500, blank=True)
    template = models.ForeignKey(Template, on_delete=models.SET_NULL, null=True, related_name="changes")
    template_version = models.PositiveIntegerField(null=True)
    is_replacement = models.BooleanField(default=False, help_text="What was configured and not named is reset.")
    findings = models.JSONField(default=list)
    instance_version = models.PositiveIntegerField(help_text="The instance's version that the preview was made from.")
    needs_restart = models.BooleanField(default=False)
    needs_admin = models.BooleanField(default=False, help_text="Only administrators may approve or start it.")
    needs_second_person = models.BooleanField(default=False)
    when = models.CharField(max_length=8, choices=When.choices, default=When.NOW)
    at = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True, help_text="Set on approval.")
    created_by = models.CharField(max_length=150)
    created_by_id = models.CharField(max_length=ID_LENGTH, blank=True)
    approved_by = models.CharField(max_length=150, blank=True)
    reverts = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="reverted_by")
    # The worker that runs the change, and until when. After that another worker may take over.
    claimed_by = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)
    is_abort_requested = models.BooleanField(default=False)
    outcome_code = models.CharField(max_length=64, blank=True)
    outcome_detail = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = [
            models.Index(fields=["state", "not_before"], name="change_due"),
            models.Index(fields=["instance", "-created_at"], name="change_of_instance"),
            models.Index(fields=["-created_at", "-id"], name="change_newest"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["instance"], condition=models.Q(state__in=AT_WORK), name="one_change_at_work_per_instance"
            )
        ]

    @property
    def name(self) -> str:
        """The name for users: the audit trail shows it instead of the id."""
        return f"{self.get_kind_display()}: {self.instance_name}"

    @property
    def progress(self) -> dict[str, int]:
        states = [step.state for step in self.steps.all()]
        return {"done": states.count(StepState.DONE), "total": len(states)}


class ChangeLine(models.Model):
    """One parameter of a change set. `old_submitted` and `new_submitted` are what is configured before and after the
    change (None: nothing); `old_value` and `new_value` are the values that the server runs before and after it.
    """

    change = models.ForeignKey(ChangeSet, on_delete=models.CASCADE, related_name="lines")
    name = models.CharField(max_length=64)
    unit = models.CharField(max_length=32, blank=True)
    old_submitted = models.TextField(null=True)
    new_submitted = models.TextField(null=True, help_text="None: reset to default.")
    old_value = models.TextField(null=True)
    new_value = models.TextField(null=True)
    needs_restart = models.BooleanField(default=False)

    class Meta:
        ordering = ("id",)
        indexes = [models.Index(fields=["name", "change"], name="line_name")]


class ChangeStep(models.Model):
    change = models.ForeignKey(ChangeSet, on_delete=models.CASCADE, related_name="steps")
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=20, choices=StepKind.choices)
    name = models.CharField(max_length=64, blank=True)
    old = models.TextField(null=True)
    new = models.TextField(null=True)
    state = models.CharField(max_length=8, choices=StepState.choices, default=StepState.PENDING)
    detail = models.TextField(blank=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("position",)
        constraints = [models.UniqueConstraint(fields=["change", "position"], name="one_step_per_position")]
