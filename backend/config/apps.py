from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        """Tasks that are sent from any process go to the broker of `config.celery`."""
        from config import celery  # noqa: F401 - importing it makes it the current app
