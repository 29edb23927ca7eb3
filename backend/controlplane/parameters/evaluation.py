"""Tries out one expression. The result is its value or its errors. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from controlplane.catalogue.line import Line

from .expressions import EvaluationError, ExpressionError, ExpressionSyntaxError, compile_expression
from .findings import Finding
from .resolution import resolve


@dataclass(frozen=True)
class EvaluationContext:
    """The instance or class that a value is tried for: the definitions of its line, the numbers of its class, and the
    values of its other parameters, since these share the memory with the tried one.
    """

    line: Line
    variables: Mapping[str, int] | None = None  # None if there is no class; then only the spelling is checked
    configured: Mapping[str, str] = field(default_factory=dict)  # name to submitted text
    running: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Evaluation:
    expression: str
    canonical: str | None = None
    variables: list[str] = field(default_factory=list)
    value: str | None = None
    error: ExpressionError | None = None
    findings: list[Finding] = field(default_factory=list)


def evaluate(text: str, place: EvaluationContext, parameter: str | None) -> Evaluation:
    try:
        expression = compile_expression(text)
    except ExpressionSyntaxError as error:
        return Evaluation(text, error=error)
    spelled = Evaluation(text, expression.canonical, sorted(expression.variables))
    if place.variables is None:
        return spelled
    try:
        value = expression.evaluate(place.variables)
    except EvaluationError as error:
        return replace(spelled, error=error)
    findings = _findings(text, place, place.variables, parameter) if parameter else []
    return replace(spelled, value=str(value), findings=findings)


def _findings(text: str, place: EvaluationContext, variables: Mapping[str, int], parameter: str) -> list[Finding]:
    """Returns the findings that a preview would have if only this parameter were changed, to the expression `text`."""
    values = {**place.configured, parameter: text}
    found = resolve(place.line, values, variables, running=place.running).findings
    return [each for each in found if each.parameter in ("", parameter)]
