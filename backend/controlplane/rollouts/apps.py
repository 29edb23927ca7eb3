from django.apps import AppConfig


class RolloutsConfig(AppConfig):
    name = "controlplane.rollouts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from controlplane.core.events import EVENT_FACTS
        from controlplane.rollouts.selectors import progress_facts

        EVENT_FACTS.fill("fleet_apply", progress_facts)
