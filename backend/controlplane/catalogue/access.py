"""Who may set a variable through this product: nobody, administrators, or operators; and why. Pure.

The classes are data (`access.yaml`). Names that it does not list are judged by their type, name and default, and
refused where these leave a doubt: what an unknown text is used for cannot be seen (docs/adr/variables-by-class.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).with_name("access.yaml")
OPERATOR, ADMIN, NEVER = CLASSES = ("operator", "admin", "never")


@dataclass(frozen=True)
class Access:
    who: str  # one of CLASSES
    code: str  # of the reason; stable
    reason: str  # empty for operators


FIXED = Access(NEVER, "fixed", "It cannot be changed: the server states it, or this engine line fixes it.")


def access_of(name: str, type: str = "string", default: str | None = None, *, is_fixed: bool = False) -> Access:
    """A name alone, without a definition, is taken for one of a text."""
    found = listed().get(name)
    if is_fixed and (found is None or found.who != NEVER):
        return FIXED
    return found or next(each.access for each in _unlisted() if each.fits(name, type, default))


@cache
def listed() -> Mapping[str, Access]:
    return {name: _access(group) for group in _table()["groups"] for name in group["names"].split()}


def reasons() -> Iterator[Access]:
    """Each once, in the order of the table."""
    yield from (_access(group) for group in _table()["groups"])
    yield from (each.access for each in _unlisted() if each.access.who != OPERATOR)
    yield FIXED


@dataclass(frozen=True)
class _Unlisted:
    access: Access
    types: frozenset[str]
    words: frozenset[str]

    def fits(self, name: str, type: str, default: str | None) -> bool:
        if not self.types and not self.words:
            return True
        looks = bool(self.words) and (is_path(default) or not self.words.isdisjoint(name.split("_")))
        return type in self.types or looks


def is_path(value: str | None) -> bool:
    return (value or "").strip().startswith(("/", "./", "../", "~", "\\"))


@cache
def _unlisted() -> tuple[_Unlisted, ...]:
    return tuple(
        _Unlisted(_access(rule), frozenset(rule.get("types", ())), frozenset(rule.get("words", "").split()))
        for rule in _table()["unlisted"]
    )


@cache
def _table() -> Any:
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def _access(entry: Mapping[str, Any]) -> Access:
    return Access(entry["access"], entry["code"], entry["reason"])
