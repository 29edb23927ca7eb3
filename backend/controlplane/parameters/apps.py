from django.apps import AppConfig


class ParametersConfig(AppConfig):
    name = "controlplane.parameters"
    default_auto_field = "django.db.models.BigAutoField"
