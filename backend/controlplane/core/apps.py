from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "controlplane.core"
    default_auto_field = "django.db.models.BigAutoField"
