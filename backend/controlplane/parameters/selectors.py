"""Reading templates."""

from __future__ import annotations

from collections.abc import Callable

from django.db.models import Q, QuerySet

from controlplane.core.errors import NotFound
from controlplane.core.hooks import Hook
from controlplane.parameters.evaluation import EvaluationContext
from controlplane.parameters.models import Template, TemplateVersion

# A function that takes an instance's id or name, and returns what a value for that instance is checked against.
EVALUATION_CONTEXT: Hook[Callable[[str], EvaluationContext]] = Hook("parameters.selectors.EVALUATION_CONTEXT")
# A function that returns the engine line of a new template for which no line was chosen.
FLEET_LINE: Hook[Callable[[], str]] = Hook("parameters.selectors.FLEET_LINE")


def template_list() -> QuerySet[Template]:
    return Template.objects.all()


def template_get(pk: str) -> Template:
    """Returns a template by id or name. Raises NotFound."""
    found = Template.objects.filter(Q(pk=pk) | Q(name=pk)).first()
    if found is None:
        raise NotFound(
            f"There is no template {pk}. It may have been deleted: see the list.",
            code="template_not_found",
        )
    return found


def template_version_get(template: Template, number: int | None = None) -> TemplateVersion:
    number = template.version if number is None else number
    found = template.versions.filter(number=number).first()
    if found is None:
        raise NotFound(
            f"Template {template.name} has no version {number}; the newest is {template.version}.",
            code="template_version_not_found",
        )
    return found


def template_values(template: Template, number: int | None = None) -> dict[str, str]:
    values: dict[str, str] = template_version_get(template, number).values
    return values
