"""Compares two sets of values. Pure. Two spellings of one expression are equivalent and reported as such."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .expressions import ExpressionError, compile_expression, is_expression


@dataclass(frozen=True)
class Difference:
    name: str
    kind: str  # added, removed, changed, respelled
    before: str | None
    after: str | None


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[Difference]:
    return [
        Difference(name, _kind(before.get(name), after.get(name)), before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _kind(before: str | None, after: str | None) -> str:
    if before is None:
        return "added"
    if after is None:
        return "removed"
    return "respelled" if _canonical(before) == _canonical(after) else "changed"


def _canonical(text: str) -> str:
    try:
        return compile_expression(text).canonical if is_expression(text) else text
    except ExpressionError:
        return text
