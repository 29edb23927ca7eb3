"""Changes to templates, each with its audit event in the same transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from controlplane.accounts.roles import is_by_admin
from controlplane.audit.services import audit_record
from controlplane.catalogue.line import Line
from controlplane.catalogue.selectors import line_get
from controlplane.core.errors import Conflict, Denied, FieldError, Invalid
from controlplane.core.etag import ANY_VERSION, IfMatch, row_held
from controlplane.core.request_context import caller
from controlplane.core.unique_names import name_claimed
from controlplane.parameters.drafts import draft_errors
from controlplane.parameters.models import Template, TemplateVersion
from controlplane.parameters.selectors import template_values

MERGE, OVERWRITE = "merge", "overwrite"


@transaction.atomic
def template_create(
    *, name: str, engine_line: str, values: Mapping[str, str], description: str = "", note: str = ""
) -> Template:
    _check_values(engine_line, {}, values)
    with name_claimed(Template.objects.all(), "a template", name):
        template = Template.objects.create(name=name, engine_line=engine_line, description=description)
    _add_version(template, values, note)
    audit_record("template.created", template, after=_facts(template, values))
    return template


@transaction.atomic
def template_update(
    *,
    template: Template,
    values: Mapping[str, str | None] | None = None,
    mode: str = MERGE,
    note: str = "",
    expected: IfMatch = ANY_VERSION,
    **fields: str,
) -> Template:
    """Changes a template, which adds a version.

    `mode` is `merge`: values that are not named stay, and None removes one; or `overwrite`: only the given values
    remain. `values` None leaves them as they are. Raises PreconditionFailed if the template is not at an `expected`
    version.
    """
    template = row_held(template, expected)
    _refuse_system(template, "changed")
    before = template_values(template)
    after = before if values is None else _combined(before, values, mode)
    if values is not None:
        _check_values(template.engine_line, before, after)
    facts_before = _facts(template, before)
    for field in ("name", "description"):
        setattr(template, field, fields.get(field, getattr(template, field)))
    template.version += 1
    with name_claimed(Template.objects.exclude(pk=template.pk), "a template", template.name):
        template.save()
    _add_version(template, after, note)
    audit_record("template.updated", template, before=facts_before, after=_facts(template, after))
    return template


@transaction.atomic
def template_delete(*, template: Template, expected: IfMatch = ANY_VERSION) -> None:
    template = row_held(template, expected)
    _refuse_system(template, "deleted")
    audit_record("template.deleted", template, before=_facts(template, template_values(template)))
    template.delete()


def template_clone(*, source: Template, name: str, number: int | None = None, description: str = "") -> Template:
    return template_create(
        name=name,
        engine_line=source.engine_line,
        description=description or source.description,
        values=template_values(source, number),
        note=f"cloned from {source.name}, version {number or source.version}",
    )


def _combined(before: Mapping[str, str], given: Mapping[str, str | None], mode: str) -> dict[str, str]:
    merged = given if mode == OVERWRITE else {**before, **given}
    return {name: text for name, text in merged.items() if text is not None}


def _check_values(engine_line: str, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    line = line_get(engine_line)
    errors = draft_errors(line, after)
    if errors:
        first = errors[0]
        raise Invalid(f"{first.field}: {first.detail}", errors=errors)
    if not is_by_admin():
        _refuse_for_administrators(line, before, after)


def _refuse_for_administrators(line: Line, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Raises Denied if an operator changes values that only administrators may set: an administrator may later apply
    the template by its name alone.
    """
    changed = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    definitions = [definition for name in sorted(changed) if (definition := line.get(name))]
    told = "only an administrator decides what a template says about it"
    errors = [FieldError(f"values.{each.name}", "admin_only", told) for each in definitions if each.is_admin_only]
    if errors:
        raise Denied(f"{errors[0].field}: {told}.", code="admin_only", errors=errors)


def _refuse_system(template: Template, done: str) -> None:
    if template.is_system:
        raise Conflict(f"{template.name} is built in and cannot be {done}: clone it first.", code="system_template")


def _add_version(template: Template, values: Mapping[str, str], note: str) -> None:
    TemplateVersion.objects.create(
        template=template, number=template.version, values=dict(values), note=note, actor=caller().actor
    )


def _facts(template: Template, values: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": template.name,
        "description": template.description,
        "engine_line": template.engine_line,
        "version": template.version,
        "values": dict(values),
    }
