"""Alert rules, their standing on each instance, incidents, silences, and the channels and outboxes that report them."""

from __future__ import annotations

from functools import partial

from django.conf import settings
from django.db import models
from django.db.models import Q

from controlplane.alerts.vocabulary import ChannelKind, Comparison, EventKind, MailState, Phase, Scope, Severity
from controlplane.core.ids import ID_LENGTH, new_id
from controlplane.core.sealing import open_sealed, seal
from controlplane.fleet.models import Instance


def identity(prefix: str) -> models.CharField:
    return models.CharField(primary_key=True, max_length=ID_LENGTH, default=partial(new_id, prefix), editable=False)


class AlertRule(models.Model):
    id = identity("alr")
    name = models.CharField(max_length=100, unique=True)
    description = models.CharField(max_length=500, blank=True)
    metric = models.CharField(max_length=64)
    comparison = models.CharField(max_length=2, choices=Comparison.choices)
    threshold = models.FloatField()
    for_seconds = models.PositiveIntegerField(default=600, help_text="How long the condition must hold.")
    minimum_traffic = models.FloatField(default=0, help_text="Of the metric's traffic; below it nothing is judged.")
    reminder_seconds = models.PositiveIntegerField(default=4 * 3600, help_text="0: no reminders.")
    severity = models.CharField(max_length=8, choices=Severity.choices, default=Severity.WARNING)
    scope = models.CharField(max_length=8, choices=Scope.choices, default=Scope.ALL)
    tags = models.JSONField(default=dict, blank=True)
    instance = models.ForeignKey(Instance, null=True, on_delete=models.CASCADE, related_name="alert_rules")
    recipients = models.JSONField(default=list, blank=True, help_text="Empty: those of the settings.")
    is_enabled = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name", "id")


class RuleOverride(models.Model):
    """How a rule deviates on one instance: another threshold (null: the rule's), or no evaluation at all."""

    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, related_name="overrides")
    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="+")
    threshold = models.FloatField(null=True)
    is_exempt = models.BooleanField(default=False)

    class Meta:
        ordering = ("instance_id",)
        constraints = [models.UniqueConstraint(fields=["rule", "instance"], name="one_override_per_rule_instance")]


class Standing(models.Model):
    """How an alert rule stands on one instance: the phase, and for how long the condition has held.

    In the phase `pending` the condition holds, but not for long enough yet; in the phase `open` there is an incident.
    A rule whose condition does not hold on the instance has no row.
    """

    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, related_name="standings")
    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="+")
    phase = models.CharField(max_length=8, choices=Phase.choices)
    broken_seconds = models.FloatField(default=0, help_text="Of samples in a row; once open: since it was told last.")
    good_seconds = models.FloatField(null=True, help_text="Of samples in a row, while open.")
    sampled_at = models.BigIntegerField(default=0, help_text="The newest sample that was judged.")
    version = models.PositiveIntegerField(default=1, help_text="Moved by every transition; a stale one loses.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rule", "instance"], name="one_standing_per_rule_instance")]


class Incident(models.Model):
    """A period in which a rule's condition held on an instance.

    It copies names and numbers, so that it stays readable when its rule and instance are deleted.
    """

    id = identity("inc")
    rule = models.ForeignKey(AlertRule, null=True, on_delete=models.SET_NULL, related_name="incidents")
    instance = models.ForeignKey(Instance, null=True, on_delete=models.SET_NULL, related_name="incidents")
    rule_name = models.CharField(max_length=100)
    instance_name = models.CharField(max_length=64)
    metric = models.CharField(max_length=64)
    comparison = models.CharField(max_length=2, choices=Comparison.choices)
    threshold = models.FloatField()
    severity = models.CharField(max_length=8, choices=Severity.choices)
    opened_value = models.FloatField(null=True)
    last_value = models.FloatField(null=True)
    opened_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, db_index=True)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ("-opened_at", "-id")
        indexes = [
            models.Index(fields=["-opened_at", "-id"], name="incident_newest"),
            models.Index(fields=["instance", "-opened_at"], name="incident_instance"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "instance"], condition=Q(resolved_at=None), name="one_open_incident_per_rule_instance"
            )
        ]

    @property
    def name(self) -> str:
        """The name for users: the audit trail shows it instead of the id."""
        return f"{self.rule_name}: {self.instance_name}"


class IncidentEvent(models.Model):
    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    kind = models.CharField(max_length=12, choices=EventKind.choices)
    value = models.FloatField(null=True)
    detail = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ("at", "id")


class Silence(models.Model):
    """Suppresses messages for matching incidents while it lasts. The incidents themselves open and resolve as usual."""

    id = identity("sil")
    rule = models.ForeignKey(AlertRule, null=True, on_delete=models.CASCADE, related_name="silences")
    instance = models.ForeignKey(Instance, null=True, on_delete=models.CASCADE, related_name="+")
    tags = models.JSONField(default=dict, blank=True)
    reason = models.CharField(max_length=200)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(db_index=True)
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-starts_at", "-id")

    @property
    def name(self) -> str:
        """The name for users: the audit trail shows it instead of the id."""
        return self.reason


class Mail(models.Model):
    """A mail in the outbox.

    It is written in the transaction of the transition that it reports, and sent by the process that claims it first.
    """

    id = identity("mail")
    incident = models.ForeignKey(Incident, null=True, on_delete=models.CASCADE, related_name="mails")
    transition = models.CharField(max_length=64, unique=True, help_text="What it tells of; a second one is refused.")
    recipients = models.JSONField()
    subject = models.CharField(max_length=200)
    text = models.TextField()
    html = models.TextField()
    state = models.CharField(max_length=8, choices=MailState.choices, default=MailState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        indexes = [models.Index(fields=["state", "due_at"], name="mail_due")]

    @property
    def kind(self) -> str:
        """The transition that the mail reports: opened, reminded, resolved or ended."""
        return self.transition.split(".")[1]


class Channel(models.Model):
    """A receiver of messages about incidents, and the filter for which incidents it gets."""

    id = identity("chn")
    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=9, choices=ChannelKind.choices)
    url = models.CharField(max_length=500, blank=True)
    secret_sealed = models.TextField(blank=True)
    recipients = models.JSONField(default=list, blank=True)
    tags = models.JSONField(default=dict, blank=True, help_text="Only incidents of instances with all of these.")
    least_severity = models.CharField(max_length=8, choices=Severity.choices, default=Severity.WARNING)
    is_enabled = models.BooleanField(default=True)
    resting_until = models.DateTimeField(null=True, help_text="The receiver took nothing; messages wait until then.")
    last_sent_at = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=500, blank=True, help_text="Of the newest message, if it was not taken.")
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name", "id")

    @property
    def secret_context(self) -> str:
        return f"channel {self.pk}"

    @property
    def secret(self) -> str:
        return open_sealed(self.secret_sealed, settings.SEALING_KEYS, self.secret_context) if self.secret_sealed else ""

    @secret.setter
    def secret(self, plain: str) -> None:
        self.secret_sealed = seal(plain, settings.SEALING_KEYS, self.secret_context) if plain else ""

    def takes(self, severity: str, tags: dict[str, str]) -> bool:
        is_severe_enough = severity == Severity.CRITICAL or self.least_severity == Severity.WARNING
        return self.is_enabled and is_severe_enough and self.tags.items() <= tags.items()


class Notification(models.Model):
    """A message in the outbox of a channel other than mail.

    It is written in the transaction of the transition that it reports, and sent at least once.
    """

    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="notifications")
    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="notifications")
    name = models.CharField(max_length=100, unique=True, help_text="What it tells of, and to whom; told once.")
    facts = models.JSONField(help_text="What it says, whatever form the receiver wants it in.")
    state = models.CharField(max_length=8, choices=MailState.choices, default=MailState.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        indexes = [models.Index(fields=["state", "due_at"], name="notification_due")]
