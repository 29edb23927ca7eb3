"""The notation of allowed values: ``[0-100]``, ``[0.1-10]``, ``[-1-4194304]``, ``[ON|OFF]``, ``~regex``. Pure.

A bound may be an expression: ``[134217728-{DBInstanceClassMemory*9/10}]``. Nothing in brackets is a regex, so a
pattern cannot be taken for a range or the other way round.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BOUND = r"-?[0-9]+(?:\.[0-9]+)?|\{[^{}]*\}"
_RANGE = re.compile(rf"\[({_BOUND})-({_BOUND})\]")


@dataclass(frozen=True)
class Allowed:
    """The allowed values of a parameter. If no field is set, any value is allowed."""

    notation: str = ""
    minimum: str | None = None
    maximum: str | None = None
    choices: tuple[str, ...] = ()
    pattern: str | None = None


def parse_allowed(notation: str) -> Allowed:
    if not notation:
        return Allowed()
    if notation.startswith("~"):
        re.compile(notation[1:])
        return Allowed(notation, pattern=notation[1:])
    if match := _RANGE.fullmatch(notation):
        return Allowed(notation, minimum=match[1], maximum=match[2])
    if notation.startswith("[") and notation.endswith("]") and "|" in notation:
        return Allowed(notation, choices=tuple(notation[1:-1].split("|")))
    raise ValueError(f"allowed values {notation!r}: write [a-b], [x|y] or ~pattern")
