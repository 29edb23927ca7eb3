from django.apps import AppConfig


class MetricsConfig(AppConfig):
    name = "controlplane.metrics"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from controlplane.core.events import TELLERS
        from controlplane.metrics.live import sample_facts

        TELLERS.fill("samples", sample_facts)
