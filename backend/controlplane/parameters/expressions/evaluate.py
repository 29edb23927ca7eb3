"""Turns a tree into nested closures once; evaluating it then takes a few calls.

backend/bench/expressions.py measures the speed. Every division truncates at once: ``{a/3*3}`` differs from ``{a*3/3}``.
"""

from collections.abc import Callable, Mapping
from functools import partial

from .errors import EvaluationError
from .syntax import Call, Chain, Integer, Node, Step, Variable

Values = Mapping[str, int]
Program = Callable[[Values], int]
FOLDS: dict[str, Callable[[list[int]], int]] = {"LEAST": min, "GREATEST": max, "SUM": sum}


def build(node: Node) -> Program:
    match node:
        case Integer(value):
            return lambda _values: value
        case Variable(name):
            return lambda values: values[name]
        case Call(function, arguments):
            return _call(function, tuple(build(argument) for argument in arguments))
        case Chain(first, rest):
            return _chain(build(first), rest)


def _call(function: str, arguments: tuple[Program, ...]) -> Program:
    fold = FOLDS[function]
    return lambda values: fold([argument(values) for argument in arguments])


def _chain(program: Program, steps: tuple[Step, ...]) -> Program:
    for step in steps:
        program = _step(program, step)
    return program


def _step(left: Program, step: Step) -> Program:
    if isinstance(step.factor, Integer) and step.factor.value:
        return _constant_step(left, step.operator, step.factor.value)
    right = build(step.factor)
    if step.operator == "*":
        return lambda values: left(values) * right(values)
    return partial(_divide, left, right, step.column)


def _constant_step(left: Program, operator: str, constant: int) -> Program:
    if operator == "*":
        return lambda values: left(values) * constant
    return lambda values: _truncated(left(values), constant)


def _divide(left: Program, right: Program, column: int, values: Values) -> int:
    divisor = right(values)
    if divisor == 0:
        raise EvaluationError(column, "a divisor of 0", "a divisor of at least 1")
    return _truncated(left(values), divisor)


def _truncated(dividend: int, divisor: int) -> int:
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient
