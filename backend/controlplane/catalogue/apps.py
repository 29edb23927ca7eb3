from django.apps import AppConfig


class CatalogueConfig(AppConfig):
    name = "controlplane.catalogue"
    default_auto_field = "django.db.models.BigAutoField"
