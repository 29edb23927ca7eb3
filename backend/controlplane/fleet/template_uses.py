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
    """Stores that this version of a template was applied to the instance, in the transaction of the change.

    With `is_replacement` the instance no longer uses any other template.
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
    """Returns the uses of a template with the instances and parameters that comparing them needs, in a constant number
    of queries.
    """
    uses = TemplateUse.objects.filter(template=template)
    return uses.select_related("instance").prefetch_related("instance__parameters")


def use_differences(use: TemplateUse, values: Mapping[str, str]) -> list[Difference]:
    """Compares the instance's configuration with `values`, the template's by parameter.

    Returns the parameters that the instance lacks or has configured otherwise; empty if it follows the template.
    """
    configured = {row.name: row.submitted for row in use.instance.parameters.all() if row.name in values}
    return [each for each in differences(configured, values) if each.kind in DIFFERENT]
