"""Checks a literal value against a definition. Pure. Violations name a value that would fit, if there is one.

A value that could not be written as one line of an option file is never valid: the rest would be read as another line.
Bounds that are expressions are not checked here: resolve them first (`Definition.with_bounds`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

from .definition import Definition
from .normal import NotOfType, decimal, normal

# Integers of any size stay integers: a Decimal is exact to 28 digits only.
Number = int | Decimal
BREAKS = ("Cc", "Zl", "Zp")
MOST_LINE_BYTES = 3900  # servers read option files in pieces of 4096 bytes, the name included


@dataclass(frozen=True)
class Violation:
    code: str  # not_of_type, below_minimum, above_maximum, not_a_multiple, no_match, control_character, too_long
    detail: str
    value: str  # the wrong value, as the detail shows it
    nearest: str | None = None  # the closest value that fits; None if there is no such value


def violations(definition: Definition, text: str, *, is_computed: bool = False) -> list[Violation]:
    """Returns what is wrong with a literal value; empty if it is valid.

    For a number, each violation names the nearest valid one. `is_computed`: the value is the result of an expression; a
    multiple below it is then preferred, since the values that share the memory must not exceed it together.
    """
    if any(unicodedata.category(character) in BREAKS for character in text):
        return [_of_text("control_character", text, "contains a line break or another control character")]
    if len(text.encode()) + text.count("\\") + text.count('"') > MOST_LINE_BYTES:
        return [_of_text("too_long", text, "is too long for one line of an option file")]
    try:
        value = normal(definition, text)
    except NotOfType as error:
        return [_of_text("not_of_type", text, f"is not {error.wanted}")]
    if definition.type == "integer":
        return _of_number(definition, int(value), is_computed)
    if definition.type == "decimal":
        return _of_number(definition, Decimal(value), is_computed)
    pattern = definition.allowed.pattern
    if pattern is not None and not re.fullmatch(pattern, value, re.DOTALL):
        return [_of_text("no_match", text, f"does not match {pattern}")]
    return []


def _of_number(definition: Definition, value: Number, is_computed: bool) -> list[Violation]:
    unit = f" {definition.unit}" if definition.unit else ""
    fitting = _nearest(definition, value, is_computed)
    nearest = f"{fitting:f}" if isinstance(fitting, Decimal) else str(fitting)
    minimum, maximum = bounds(definition)
    found, shown = [], str(value)
    if minimum is not None and value < minimum:
        found.append(Violation("below_minimum", f"{value} is below the minimum of {minimum}{unit}", shown, nearest))
    if maximum is not None and value > maximum:
        found.append(Violation("above_maximum", f"{value} is above the maximum of {maximum}{unit}", shown, nearest))
    if definition.divisor > 1 and value % definition.divisor:
        found.append(Violation("not_a_multiple", f"{value} is not a multiple of {definition.divisor}", shown, nearest))
    return found


def bounds(definition: Definition) -> tuple[Number | None, Number | None]:
    return _bound(definition, definition.allowed.minimum), _bound(definition, definition.allowed.maximum)


def _bound(definition: Definition, text: str | None) -> Number | None:
    if text is None or text.startswith("{"):
        return None
    return int(text) if definition.type == "integer" else decimal(text)


def _nearest(definition: Definition, value: Number, is_computed: bool) -> Number:
    """Returns the closest valid number: clamped into the range, then the closest multiple of the divisor, or for a
    computed value the multiple below.
    """
    minimum, maximum = bounds(definition)
    if maximum is not None:
        value = min(value, maximum)
    if minimum is not None:
        value = max(value, minimum)
    if definition.divisor <= 1:
        return value
    above_down = value % definition.divisor
    down = value - above_down
    up = down + definition.divisor
    if minimum is not None and down < minimum:
        return up
    is_up_closer = above_down * 2 > definition.divisor and (maximum is None or up <= maximum)
    return up if is_up_closer and not is_computed else down


def _of_text(code: str, text: str, what: str) -> Violation:
    return Violation(code, f"{_shown(text)} {what}", _shown(text))


def _shown(text: str) -> str:
    return f"'{text}'" if len(text) <= 60 else f"'{text[:57]}...'"
