"""Metrics of open incidents and of the outboxes, shown with the other metrics of the control plane."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from controlplane.alerts.models import Incident, Mail, Notification
from controlplane.alerts.vocabulary import MailState, Severity
from controlplane.metrics.exposition import counted


class AlertCollector(Collector):
    def collect(self) -> Iterator[Metric]:
        is_open = Incident.objects.filter(resolved_at=None)
        yield counted("fqc_open_incidents", "Open incidents by severity.", is_open, "severity", Severity)
        yield counted("fqc_mails", "Mails in the outbox by state.", Mail.objects.all(), "state", MailState)
        sent = Notification.objects.all()
        yield counted("fqc_notifications", "Messages to channels by state.", sent, "state", MailState)

    def describe(self) -> list[Metric]:
        return []
