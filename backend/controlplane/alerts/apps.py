from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "controlplane.alerts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from controlplane.alerts.exposition import AlertCollector
        from controlplane.alerts.incidents import instance_leave
        from controlplane.alerts.models import Channel
        from controlplane.fleet.sealed import SEALED_ABOVE
        from controlplane.fleet.services import ENDS_WITH_INSTANCE
        from controlplane.metrics.exposition import COLLECTORS

        COLLECTORS.fill("alerts", AlertCollector)
        ENDS_WITH_INSTANCE.fill("incidents", instance_leave)
        SEALED_ABOVE.fill("channels", Channel)
