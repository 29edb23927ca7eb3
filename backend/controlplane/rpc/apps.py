from django.apps import AppConfig


class RpcConfig(AppConfig):
    name = "controlplane.rpc"
    default_auto_field = "django.db.models.BigAutoField"
