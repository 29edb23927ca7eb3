from django.apps import AppConfig


class MetricsConfig(AppConfig):
    name = "controlplane.metrics"
    default_auto_field = "django.db.models.BigAutoField"
