"""Checks whether values may be stored in a template. Pure: only checks that need no instance class.

Literals must be in range. Expressions must parse; their values are only known for a class (`resolution`).
"""

from __future__ import annotations

from collections.abc import Mapping

from controlplane.catalogue.definition import Definition
from controlplane.catalogue.line import Line
from controlplane.catalogue.validation import violations
from controlplane.core.errors import FieldError

from .expressions import ExpressionError, compile_expression
from .resolution import takes_expression

MOST_VALUES = 1000


def draft_errors(line: Line, values: Mapping[str, str]) -> list[FieldError]:
    if len(values) > MOST_VALUES:
        return [FieldError("values", "too_many", f"at most {MOST_VALUES} values fit in a template")]
    return [error for name, text in values.items() for error in _value_errors(line, name, text)]


def _value_errors(line: Line, name: str, text: str) -> list[FieldError]:
    field, definition = f"values.{name}", line.definitions.get(name)
    if definition is None:
        like = line.like(name)
        instead = f"did you mean {like}?" if like else "see the list of parameters"
        detail = f"{line.name} has no parameter {name}: {instead}"
        return [FieldError(field, "unknown_parameter", detail)]
    if not definition.is_modifiable:
        detail = f"{name} is not set through this product. {definition.access.reason}"
        return [FieldError(field, "not_modifiable", detail)]
    if takes_expression(definition, text):
        return _expression_errors(field, text)
    return _literal_errors(field, definition, text)


def _expression_errors(field: str, text: str) -> list[FieldError]:
    try:
        compile_expression(text)
    except ExpressionError as error:
        return [FieldError(field, error.code, str(error))]
    return []


def _literal_errors(field: str, definition: Definition, text: str) -> list[FieldError]:
    return [FieldError(field, violation.code, violation.detail) for violation in violations(definition, text)]
