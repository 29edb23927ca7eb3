from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "controlplane.alerts"
    default_auto_field = "django.db.models.BigAutoField"
