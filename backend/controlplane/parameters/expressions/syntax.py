"""The tree of an expression: four kinds of nodes, immutable."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Integer:
    value: int


@dataclass(frozen=True, slots=True)
class Variable:
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """A sequence of operations, ``first op factor op factor ...``, evaluated from left to right."""

    first: "Node"
    rest: tuple["Step", ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One operator of a chain and the factor after it.

    ``column`` is that of the factor, where a division by zero is reported.
    """

    operator: str
    factor: "Node"
    column: int


Node = Integer | Variable | Call | Chain
