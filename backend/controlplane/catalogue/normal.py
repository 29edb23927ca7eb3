"""Converts text to its normal form, so that 16M, 16777216 and 0016777216 are equal, and ON, on and 1 too. Pure.

The normal form is the text that a server would be sent. Raises `NotOfType` for text without a normal form.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from .definition import Definition

_INTEGER = re.compile(r"([+-]?[0-9]{1,40})([kmgtpe]?)", re.IGNORECASE | re.ASCII)
_DECIMAL = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})", re.ASCII)
_SUFFIXES: dict[str, int] = {suffix: 1024**power for power, suffix in enumerate(["", *"kmgtpe"])}
_TRUE, _FALSE = {"1", "ON", "TRUE", "YES"}, {"0", "OFF", "FALSE", "NO"}


class NotOfType(ValueError):
    """The text is no value of the parameter's type.

    `wanted` describes what it should have been, such as `ON or OFF`.
    """

    def __init__(self, wanted: str) -> None:
        super().__init__(wanted)
        self.wanted = wanted


def normal(definition: Definition, text: str) -> str:
    return _READERS[definition.type](definition, text.strip())


def is_off(switch: str | None) -> bool:
    """Returns whether this value of query_cache_type means off.

    Empty or None, for a server without the variable, is off too.
    """
    return not switch or switch.upper() in ("OFF", "0")


def integer(text: str) -> int:
    match = _INTEGER.fullmatch(text)
    if match is None:
        raise NotOfType("a whole number, optionally with K, M, G, T, P or E")
    return int(match[1]) * _SUFFIXES[match[2].lower()]


def decimal(text: str) -> Decimal:
    if not _DECIMAL.fullmatch(text):
        raise NotOfType("a decimal number such as 0.5")
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise NotOfType("a decimal number such as 0.5") from error


def _integer(definition: Definition, text: str) -> str:
    return str(integer(text))


def _decimal(definition: Definition, text: str) -> str:
    shown = f"{decimal(text):f}"
    return shown.rstrip("0").rstrip(".") or "0" if "." in shown else shown


def _choice(definition: Definition, text: str) -> str:
    """Returns the choice with this name or alias, in the definition's spelling; case does not matter.

    A number selects a choice by position, counted from 0, unless choices contain digits. Raises NotOfType for anything
    else; without choices, any text is returned as it is.
    """
    choices = definition.allowed.choices
    wanted = definition.aliases.get(text.upper(), text).upper()
    for choice in choices:
        if choice.upper() == wanted:
            return choice
    if text.isascii() and text.isdigit() and int(text) < len(choices) and not any(c.isdigit() for c in choices):
        return choices[int(text)]
    if choices:
        raise NotOfType("one of " + ", ".join(choices))
    return text


def _boolean(definition: Definition, text: str) -> str:
    choices = definition.allowed.choices
    for spellings in (_TRUE, _FALSE):
        if text.upper() in spellings:
            return next((choice for choice in choices if choice.upper() in spellings), text.upper())
    if not choices:
        raise NotOfType("ON or OFF")
    return _choice(definition, text)


def _set(definition: Definition, text: str) -> str:
    """Returns the names, separated by commas, in the order of the definition, in which servers answer.

    Raises NotOfType for unknown names.
    """
    words = {word.strip().upper() for word in text.split(",") if word.strip()}
    known = {choice.upper(): choice for choice in definition.allowed.choices}
    unknown = sorted(words - set(known))
    if unknown and known:
        raise NotOfType("names from " + ", ".join(known.values()))
    return ",".join([choice for upper, choice in known.items() if upper in words] or sorted(words))


def _flags(definition: Definition, text: str) -> str:
    """Normalises flags such as ``a=on,b=off``, whose order does not matter: lower case, sorted."""
    pairs = [part.strip().lower() for part in text.split(",") if part.strip()]
    return ",".join(sorted(pairs))


def _string(definition: Definition, text: str) -> str:
    return text


_READERS = {
    "integer": _integer,
    "decimal": _decimal,
    "boolean": _boolean,
    "enum": _choice,
    "set": _set,
    "flags": _flags,
    "string": _string,
}
