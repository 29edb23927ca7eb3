from django.apps import AppConfig


class MetricsConfig(AppConfig):
    name = "controlplane.metrics"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from controlplane.core.events import EVENT_FACTS
        from controlplane.metrics.live import sample_facts

        EVENT_FACTS.fill("samples", sample_facts)
