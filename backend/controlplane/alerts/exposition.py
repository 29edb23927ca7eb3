"""Open incidents and the outboxes, beside the other metrics of the control plane."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from controlplane.alerts.models import Incident, Mail, Notification


class AlertCollector(Collector):
    def collect(self) -> Iterator[Metric]:
        incidents = GaugeMetricFamily("fqc_open_incidents", "Open incidents by severity.", labels=["severity"])
        for severity, count in (
            Incident.objects.filter(resolved_at=None).order_by().values_list("severity").annotate(Count("pk"))
        ):
            incidents.add_metric([severity], count)
        yield incidents
        mails = GaugeMetricFamily("fqc_mails", "Mails in the outbox by state.", labels=["state"])
        for state, count in Mail.objects.values_list("state").annotate(Count("pk")).order_by("state"):
            mails.add_metric([state], count)
        yield mails
        sent = GaugeMetricFamily("fqc_notifications", "Messages to channels by state.", labels=["state"])
        for state, count in Notification.objects.values_list("state").annotate(Count("pk")).order_by("state"):
            sent.add_metric([state], count)
        yield sent

    def describe(self) -> list[Metric]:
        return []
