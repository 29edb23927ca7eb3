from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "controlplane.alerts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from controlplane.alerts.exposition import AlertCollector
        from controlplane.alerts.incidents import instance_leave
        from controlplane.fleet.services import farewell_register
        from controlplane.metrics.exposition import REGISTRY

        REGISTRY.register(AlertCollector())
        farewell_register(instance_leave)
