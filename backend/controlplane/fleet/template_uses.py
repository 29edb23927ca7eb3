"""The instances that use a template, and whether they still have its newest values.

Parameters that an instance has in addition to the template's are ignored; another spelling of an expression is not a
difference.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import QuerySet
from django.utils import timezone

from controlplane.core.request_context import caller
from controlplane.fleet.models import Instance, TemplateUse
from controlplane.parameters.difference import Difference, differences
from controlplane.parameters.models import Template

DIFFERENT = ("added", "changed")


def template_use_note(instance: Instance, template: Template, version: int, *, is_replacement: bool = False) -> None:
    """Stores that an instance uses a template, in the transaction of the change.

    A replacement ends the use of all others.
    """
    if is_replacement:
        template_uses_end(instance)
    facts = {"version": version, "applied_at": timezone.now(), "applied_by": caller().actor}
    use = TemplateUse(template=template, instance=instance, **facts)
    TemplateUse.objects.bulk_create(
        [use], update_conflicts=True, unique_fields=["template", "instance"], update_fields=list(facts)
    )


def template_uses_end(instance: Instance) -> None:
    instance.template_uses.all().delete()


def template_use_list(template: Template) -> QuerySet[TemplateUse]:
    """Returns the uses with everything needed to compare them, in a constant number of queries."""
    uses = TemplateUse.objects.filter(template=template)
    return uses.select_related("instance").prefetch_related("instance__parameters")


def use_differences(use: TemplateUse, values: Mapping[str, str]) -> list[Difference]:
    """Returns the differences between the instance's configuration and the template's values."""
    configured = {row.name: row.submitted for row in use.instance.parameters.all() if row.name in values}
    return [each for each in differences(configured, values) if each.kind in DIFFERENT]
