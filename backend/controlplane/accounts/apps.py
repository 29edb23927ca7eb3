from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "controlplane.accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from controlplane.accounts.standing import holder_of, still_standing
        from controlplane.core.standing import HOLDER_OF, STILL_STANDING

        HOLDER_OF.fill("accounts", holder_of)
        STILL_STANDING.fill("accounts", still_standing)
