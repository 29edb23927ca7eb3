from django.apps import AppConfig


class FleetConfig(AppConfig):
    name = "controlplane.fleet"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from controlplane.fleet.selectors import fleet_line
        from controlplane.fleet.showing import evaluation_context
        from controlplane.parameters.selectors import EVALUATION_CONTEXT, FLEET_LINE

        EVALUATION_CONTEXT.fill("fleet", evaluation_context)
        FLEET_LINE.fill("fleet", fleet_line)
