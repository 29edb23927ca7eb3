from django.apps import AppConfig


class PrerequisitesConfig(AppConfig):
    name = "controlplane.prerequisites"
    default_auto_field = "django.db.models.BigAutoField"
