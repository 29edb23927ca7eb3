from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "controlplane.accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from controlplane.accounts.stream_credentials import holder_of, still_valid
        from controlplane.core.stream_credentials import HOLDER_OF, STILL_VALID

        HOLDER_OF.fill("accounts", holder_of)
        STILL_VALID.fill("accounts", still_valid)
