from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        """Makes `config.celery` the current Celery app in any process, so that tasks are sent to its broker."""
        from config import celery  # noqa: F401 - importing it makes it the current app
