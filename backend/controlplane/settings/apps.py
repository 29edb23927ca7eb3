from django.apps import AppConfig


class SettingsConfig(AppConfig):
    name = "controlplane.settings"
    default_auto_field = "django.db.models.BigAutoField"
