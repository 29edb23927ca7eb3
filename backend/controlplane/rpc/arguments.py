"""Arguments that actions declare, and how their text is parsed. Pure.

An argument that the action does not declare is refused by name, so that a misspelt `Forcerestart` is not ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .errors import RpcError

Reader = Callable[[str], Any]
TRUE, FALSE = "true", "false"
YEARS = range(1970, 9999)  # adding a minute to the last year still gives a valid time
TOKEN = re.compile(r"[\x21-\x7e]{1,64}")


@dataclass(frozen=True)
class Argument:
    name: str
    read: Reader
    is_required: bool = False
    default: Any = None
    is_used: bool = True


def text(raw: str) -> str:
    if not raw or len(raw) > 4096:
        raise ValueError("write 1 to 4096 characters")
    return raw


def boolean(raw: str) -> bool:
    """Parses a truth value in any case: Python clients send True, others true. Raises ValueError."""
    if raw.lower() not in (TRUE, FALSE):
        raise ValueError("write true or false")
    return raw.lower() == TRUE


def whole(low: int, high: int) -> Reader:
    def read(raw: str) -> int:
        if not (raw.isascii() and raw.isdigit() and len(raw) <= 18 and low <= int(raw) <= high):
            raise ValueError(f"write a whole number from {low} to {high}")
        return int(raw)

    return read


def one_of(*choices: str) -> Reader:
    """Returns a reader of an argument: it accepts these choices in any case and returns the dialect's spelling, or
    raises ValueError.
    """

    def read(raw: str) -> str:
        for choice in choices:
            if raw.lower() == choice.lower():
                return choice
        raise ValueError(f"write {' or '.join(choices)}")

    return read


def moment(raw: str) -> datetime:
    """Parses a UTC time such as 2026-11-20T23:50Z or 2026-11-20T23:50:00Z. Raises ValueError."""
    for pattern in ("%Y-%m-%dT%H:%MZ", "%Y-%m-%dT%H:%M:%SZ"):
        try:
            found = datetime.strptime(raw, pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
        if found.year in YEARS:
            return found
    raise ValueError("write a time in UTC such as 2026-11-20T23:50:00Z")


def client_token(raw: str) -> str:
    if not TOKEN.fullmatch(raw):
        raise ValueError("write 1 to 64 visible ASCII characters")
    return raw


def text_map(raw: str) -> dict[str, str]:
    """Parses a JSON object whose values are texts or numbers.

    Numbers keep their spelling, so that no digits are lost. Raises ValueError.
    """
    try:
        found = json.loads(raw, object_pairs_hook=_unique, parse_int=str, parse_float=str, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise ValueError(f'write a JSON object such as {{"name": "value"}} ({error})') from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise ValueError('write a JSON object whose values are texts, such as {"name": "value"}')
    everything = "".join([*found, *found.values()])
    if "\0" in everything or not _is_unicode(everything):
        raise ValueError("a character is in it that no text has")
    return found


def _is_unicode(text: str) -> bool:
    """Returns false if the text has a lone surrogate, which JSON can express but UTF-8, and so the database, cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is in it twice")
    return found


def _refused(constant: str) -> str:
    raise ValueError(f"{constant} is no value")


def required(name: str, read: Reader = text) -> Argument:
    return Argument(name, read, is_required=True)


def optional(name: str, read: Reader = text, default: Any = None) -> Argument:
    return Argument(name, read, default=default)


def unused(*names: str) -> list[Argument]:
    """Returns arguments that an action accepts and ignores, because scripts send them."""
    return [Argument(name, str, is_used=False) for name in names]


def read_all(declared: Mapping[str, Argument], given: Mapping[str, str], action: str) -> dict[str, Any]:
    unknown = sorted(given.keys() - declared.keys())
    if unknown:
        known = ", ".join(sorted(declared))
        raise RpcError("UnsupportedParameter", f"{action} does not take {', '.join(unknown)} here; it takes {known}.")
    used = [argument for argument in declared.values() if argument.is_used]
    return {argument.name: _read(argument, given.get(argument.name), action) for argument in used}


def _read(argument: Argument, raw: str | None, action: str) -> Any:
    if raw is None or (raw == "" and not argument.is_required):
        if argument.is_required:
            raise RpcError("MissingParameter", f"{action} needs {argument.name}.")
        return argument.default
    try:
        return argument.read(raw)
    except ValueError as error:
        raise RpcError(f"Invalid{argument.name}.Malformed", f"{argument.name}: {error}.") from error
