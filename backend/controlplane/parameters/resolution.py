"""Resolves a template's values for one instance class: expressions become numbers, problems become findings. Pure.

A result that is not a multiple of the divisor is rounded down with a finding. A result outside its range blocks, unless
the caller asks to clamp. The submitted text is never altered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from controlplane.catalogue.definition import Definition
from controlplane.catalogue.line import Line
from controlplane.catalogue.normal import NotOfType, normal
from controlplane.catalogue.validation import violations

from .doubts import misfit, notices, refused_expression, unknown_parameter
from .expressions import ExpressionError, compile_expression, is_expression
from .findings import Finding, Severity
from .memory import BUDGETED, memory_findings

NUMERIC = ("integer", "decimal", "boolean", "enum")


@dataclass(frozen=True)
class Resolved:
    name: str
    submitted: str
    resolved: str | None  # None if the findings say why there is no value
    canonical: str | None  # the normal form of an expression
    needs_restart: bool


@dataclass(frozen=True)
class Resolution:
    values: list[Resolved]
    findings: list[Finding]

    @property
    def is_blocked(self) -> bool:
        return any(finding.severity is Severity.BLOCKING for finding in self.findings)


def resolve(
    line: Line,
    values: Mapping[str, str],
    variables: Mapping[str, int],
    *,
    is_clamped: bool = False,
    running: Mapping[str, str] | None = None,
) -> Resolution:
    """Resolves submitted values, by parameter, to what a server of this class would be sent, with findings about each
    value and about the memory of all together.

    `variables` are those of the instance class. `is_clamped`: results of expressions are moved into their range.
    `running` has the server's values of parameters that are not submitted, which count before defaults in the
    computation of memory.
    """
    key = tuple(sorted(variables.items()))
    found = [_resolve_one(line, name, submitted, key, is_clamped) for name, submitted in sorted(values.items())]
    resolved = [value for value, _ in found]
    findings = [finding for _, of_value in found for finding in of_value]
    numbers = {value.name: value.resolved for value in resolved if value.resolved is not None}
    left = {name: text for name, text in (running or {}).items() if name in BUDGETED and name not in numbers}
    taken = numbers | left
    findings += memory_findings(taken | _class_defaults(line, taken, variables), variables)
    return Resolution(resolved, findings)


def takes_expression(definition: Definition, submitted: str) -> bool:
    return definition.type in NUMERIC and is_expression(submitted)


def bounded(definition: Definition, variables: Mapping[str, int]) -> Definition:
    """Returns a copy of the definition whose bounds are numbers: expressions are computed with the variables of an
    instance class.

    Raises ExpressionError if one has no value.
    """
    allowed = definition.allowed
    return definition.with_bounds(_number(allowed.minimum, variables), _number(allowed.maximum, variables))


def _number(bound: str | None, variables: Mapping[str, int]) -> str | None:
    if bound is None or not bound.startswith("{"):
        return bound
    return str(compile_expression(bound).evaluate(variables))


@lru_cache(maxsize=16384)
def _resolve_one(
    line: Line, name: str, submitted: str, key: tuple[tuple[str, int], ...], is_clamped: bool
) -> tuple[Resolved, tuple[Finding, ...]]:
    """Resolves one value; `key` are the sorted variables of the instance class.

    Cached, since a template previewed for a thousand instances meets only a handful of classes.
    """
    variables = dict(key)
    definition = line.get(name)
    if definition is None:
        return Resolved(name, submitted, None, None, False), (unknown_parameter(line, name),)
    if not definition.is_modifiable:  # refused, whatever the value
        return Resolved(name, submitted, None, None, definition.needs_restart), tuple(notices(definition))
    is_computed = takes_expression(definition, submitted)
    try:
        text = str(compile_expression(submitted).evaluate(variables)) if is_computed else submitted
        definition = bounded(definition, variables)
    except ExpressionError as error:
        return Resolved(name, submitted, None, None, definition.needs_restart), (refused_expression(name, error),)
    value, findings = _checked(definition, text, is_computed, is_clamped)
    canonical = compile_expression(submitted).canonical if is_computed else None
    return Resolved(name, submitted, value, canonical, definition.needs_restart), (*findings, *notices(definition))


def _checked(
    definition: Definition, text: str, is_computed: bool, is_clamped: bool
) -> tuple[str | None, list[Finding]]:
    found = violations(definition, text, is_computed=is_computed)
    if not found:
        return _normal(definition, text), []
    nearest = found[0].nearest
    is_only_rounding = is_computed and all(violation.code == "not_a_multiple" for violation in found)
    if nearest is not None and (is_only_rounding or (is_clamped and is_computed)):
        return nearest, [replace(misfit(definition, v, text), severity=Severity.NOTICE) for v in found]
    return _normal(definition, text), [misfit(definition, violation, text) for violation in found]


def _normal(definition: Definition, text: str) -> str | None:
    try:
        return normal(definition, text)
    except NotOfType:
        return None


def _class_defaults(line: Line, given: Mapping[str, str], variables: Mapping[str, int]) -> dict[str, str]:
    """Returns the defaults on this class of the parameters that count in the computation of memory and are not in
    `given`.
    """
    definitions = (line.get(name) for name in BUDGETED if name not in given)
    return {each.name: _default(each, variables) for each in definitions if each is not None}


def _default(definition: Definition, variables: Mapping[str, int]) -> str:
    try:
        return _number(definition.default, variables) or "0"
    except ExpressionError:
        return "0"  # a variable is missing; an unknown value does not count
