from importlib import import_module

from django.apps import AppConfig


class MetricsConfig(AppConfig):
    name = "controlplane.metrics"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        events, live = import_module("controlplane.core.events"), import_module("controlplane.metrics.live")
        events.teller_register("samples", live.sample_facts)
