"""The enumerations of alerting."""

from __future__ import annotations

from controlplane.core.choices import TextChoices


class Comparison(TextChoices):
    BELOW = "lt", "below"
    AT_MOST = "le", "at most"
    ABOVE = "gt", "above"
    AT_LEAST = "ge", "at least"


class Severity(TextChoices):
    WARNING = "warning", "warning"
    CRITICAL = "critical", "critical"


class ChannelKind(TextChoices):
    MAIL = "mail", "mail"
    WEBHOOK = "webhook", "webhook"
    SLACK = "slack", "Slack-compatible"
    PAGERDUTY = "pagerduty", "PagerDuty"


class Scope(TextChoices):
    ALL = "all", "all instances"
    TAGS = "tags", "instances with all of these tags"
    INSTANCE = "instance", "one instance"


class Phase(TextChoices):
    OK = "ok", "ok"
    PENDING = "pending", "pending"
    OPEN = "open", "open"


class EventKind(TextChoices):
    OPENED = "opened", "opened"
    REMINDED = "reminded", "reminded"
    RESOLVED = "resolved", "resolved"
    ACKNOWLEDGED = "acknowledged", "acknowledged"
    SILENCED = "silenced", "silenced"
    MAILED = "mailed", "mail sent"
    MAIL_FAILED = "mail_failed", "mail failed"
    NOTIFIED = "notified", "channel notified"
    NOT_NOTIFIED = "not_notified", "channel not notified"


class MailState(TextChoices):
    QUEUED = "queued", "queued"
    SENDING = "sending", "sending"
    SENT = "sent", "sent"
    FAILED = "failed", "failed"
