from django.apps import AppConfig


class FleetConfig(AppConfig):
    name = "controlplane.fleet"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from controlplane.fleet.selectors import fleet_line
        from controlplane.fleet.showing import place_of
        from controlplane.parameters.selectors import FLEET_LINE, PLACE_OF

        PLACE_OF.fill("fleet", place_of)
        FLEET_LINE.fill("fleet", fleet_line)
