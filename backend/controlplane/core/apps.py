from importlib import import_module

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "controlplane.core"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("config.celery")  # tasks that are sent from any process go to its broker
