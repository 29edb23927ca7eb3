"""Findings about one parameter that resolution may return, with their texts. Pure."""

from __future__ import annotations

from controlplane.catalogue.definition import Definition
from controlplane.catalogue.line import Line
from controlplane.catalogue.validation import Violation

from .expressions import ExpressionError
from .findings import Finding, Severity


def notices(definition: Definition) -> list[Finding]:
    name = definition.name
    if not definition.is_modifiable:
        return [
            Finding(
                Severity.BLOCKING,
                "not_modifiable",
                name,
                f"{name} is not set through this product. {definition.access.reason}",
                "only parameters that may be changed",
                f"Leave {name} out.",
                facts={"reason": definition.access.code},
            )
        ]
    if definition.needs_restart:
        return [
            Finding(
                Severity.NOTICE,
                "restart_needed",
                name,
                f"{name} takes effect only when the server starts",
                "a restart",
                "Allow a restart, or leave it pending.",
            )
        ]
    return []


def unknown_parameter(line: Line, name: str) -> Finding:
    like = line.like(name)
    return Finding(
        Severity.BLOCKING, "unknown_parameter", name, f"{name} is not a parameter of {line.name}",
        "a name of the catalogue", f"Did you mean {like}?" if like else "Correct the name, or remove it.",
        facts={"server": line.name, "like": f" ({like}?)" if like else ""},
    )  # fmt: skip


def refused_expression(name: str, error: ExpressionError) -> Finding:
    return Finding(
        Severity.BLOCKING, error.code, name, f"column {error.column}: {error.found}", error.expected,
        f"{error.hint[0].upper()}{error.hint[1:]}." if error.hint else "Correct the expression at this column.",
        facts={"column": str(error.column), "found": error.found, "expected": error.expected},
    )  # fmt: skip


def misfit(definition: Definition, violation: Violation, text: str) -> Finding:
    code = violation.code
    if code == "below_minimum" and text == "0":
        code = "zero_on_this_class"
    remedy = f"Use {violation.nearest}, the nearest value that fits." if violation.nearest else "Correct the value."
    return Finding(
        Severity.BLOCKING, code, definition.name, violation.detail, _needed(definition), remedy, violation.nearest,
        facts={"value": violation.value, "allowed": _allowed(definition)},
    )  # fmt: skip


def _allowed(definition: Definition) -> str:
    """Returns a parameter's allowed values as numbers and names only, so that the text fits any language."""
    allowed = definition.allowed
    if allowed.minimum is None or allowed.maximum is None:
        return allowed.notation or definition.type
    step = f", {definition.divisor} x n" if definition.divisor > 1 else ""
    return f"{allowed.minimum} to {allowed.maximum}{step}"


def _needed(definition: Definition) -> str:
    allowed = definition.allowed
    if allowed.minimum is None or allowed.maximum is None:
        return allowed.notation or f"a value of type {definition.type}"
    step = f", a multiple of {definition.divisor}" if definition.divisor > 1 else ""
    return f"{allowed.minimum} to {allowed.maximum}{step}"
