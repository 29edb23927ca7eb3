"""One expression tried out: its value, or what is wrong with it, as a value. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from controlplane.catalogue.line import Line

from .expressions import EvaluationError, ExpressionError, ExpressionSyntaxError, compile_expression
from .findings import Finding
from .resolution import resolve


@dataclass(frozen=True)
class Evaluation:
    expression: str
    canonical: str | None = None
    variables: list[str] = field(default_factory=list)
    value: str | None = None
    error: ExpressionError | None = None
    findings: list[Finding] = field(default_factory=list)


def evaluate(text: str, variables: Mapping[str, int] | None, line: Line, parameter: str | None) -> Evaluation:
    """Without variables, only the spelling is judged."""
    try:
        expression = compile_expression(text)
    except ExpressionSyntaxError as error:
        return Evaluation(text, error=error)
    spelled = Evaluation(text, expression.canonical, sorted(expression.variables))
    if variables is None:
        return spelled
    try:
        value = expression.evaluate(variables)
    except EvaluationError as error:
        return replace(spelled, error=error)
    findings = resolve(line, {parameter: text}, variables).findings if parameter else []
    return replace(spelled, value=str(value), findings=findings)
