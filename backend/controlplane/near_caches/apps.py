from django.apps import AppConfig


class NearCachesConfig(AppConfig):
    name = "controlplane.near_caches"
    default_auto_field = "django.db.models.BigAutoField"
