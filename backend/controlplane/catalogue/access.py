"""The access class of each variable: operators may set it, only administrators, or no user; with the reason. Pure.

The classes are data (`access.yaml`). Names that it does not list are judged by their type, name, default and choices,
and refused in case of doubt: the purpose of an unknown text variable cannot be seen (docs/adr/variables-by-class.md).
Servers also accept names that are not names of variables: abbreviations of options, and names with a prefix such as
`skip_`. Such a name is refused if it could reach an option that operators may not set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).with_name("access.yaml")
OPERATOR, ADMIN, NEVER = CLASSES = ("operator", "admin", "never")
CHOSEN = ("enum", "set")


@dataclass(frozen=True)
class Access:
    who: str  # one of CLASSES
    code: str  # a stable code for the reason
    reason: str  # why, as a sentence for users; empty for operators


FIXED = Access(NEVER, "fixed", "It cannot be changed: the server states it, or this engine line fixes it.")
_OTHER = (
    "A server could take this name for another option: one that it abbreviates, or one behind a prefix such as skip_."
)
OTHER_OPTION = Access(NEVER, "other_option", _OTHER)
# Servers remove these prefixes from an option's name, one after the other, and look up the rest.
PREFIXES = ("loose_", "skip_", "enable_", "disable_", "maximum_", "autoset_")
_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*")
_WORD = re.compile(r"[A-Za-z0-9_-]+")


def access_of(
    name: str, type: str = "string", default: str | None = None, choices: Sequence[str] = (), *, is_fixed: bool = False
) -> Access:
    """Returns who may set a variable of this name, and why.

    `type`, `default` and `choices` are those of its definition; a name without a definition is judged as a text
    variable. `is_fixed`: the server cannot change it.
    """
    full = as_option(name)
    found = listed().get(full)
    if is_fixed and (found is None or found.who != NEVER):
        return FIXED
    if found is None and is_other_option(full):
        return OTHER_OPTION
    return found or next(each.access for each in _unlisted() if each.fits(full, type, default, choices))


def as_option(name: str) -> str:
    """Returns the name in the form in which servers compare options: in lower case, with underscores."""
    return name.lower().replace("-", "_")


def is_other_option(name: str) -> bool:
    """Returns whether the name is not plain, or a server could take it for another option that operators may not set,
    for example as its abbreviation.

    Such a name must not be set.
    """
    if not _NAME.fullmatch(name) or name.startswith(PREFIXES):
        return True
    return any(kept.startswith(name) for kept, access in listed().items() if access.who != OPERATOR)


@cache
def listed() -> Mapping[str, Access]:
    return {name: _access(group) for group in _table()["groups"] for name in group["names"].split()}


def reasons() -> Iterator[Access]:
    """Yields each access class with its reason once, in the order of the table, for the reference page."""
    yield from (_access(group) for group in _table()["groups"])
    yield from (each.access for each in _unlisted() if each.access.who != OPERATOR)
    yield OTHER_OPTION
    yield FIXED


@dataclass(frozen=True)
class _Unlisted:
    access: Access
    types: frozenset[str]
    words: frozenset[str]
    text_words: frozenset[str]

    def fits(self, name: str, type: str, default: str | None, choices: Sequence[str]) -> bool:
        if not self.types and not self.words:
            return True
        parts = set(re.split(r"[_.]", name))
        looks = bool(self.words) and (is_path(default) or not self.words.isdisjoint(parts))
        is_text = type in self.types or (type in CHOSEN and self._takes_text(parts, choices))
        return is_text or looks

    def _takes_text(self, parts: set[str], choices: Sequence[str]) -> bool:
        """Returns whether a variable with choices must be judged as text: it lists no choices, or words of its name
        (`parts`) or its choices look like text.
        """
        if not self.text_words:
            return False
        return not choices or not self.text_words.isdisjoint(parts) or not all(map(_WORD.fullmatch, choices))


def is_path(value: str | None) -> bool:
    return (value or "").strip().startswith(("/", "./", "../", "~", "\\"))


@cache
def _unlisted() -> tuple[_Unlisted, ...]:
    return tuple(
        _Unlisted(
            _access(rule),
            types=frozenset(rule.get("types", ())),
            words=frozenset(rule.get("words", "").split()),
            text_words=frozenset(rule.get("text_words", "").split()),
        )
        for rule in _table()["unlisted"]
    )


@cache
def _table() -> Any:
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def _access(entry: Mapping[str, Any]) -> Access:
    return Access(entry["access"], entry["code"], entry["reason"])
