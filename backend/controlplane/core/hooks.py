"""Typed hooks for calls of higher apps, which an app must not import.

The calling app declares a hook in the module of the call, with the type of the function or class it needs. Each higher
app imports that hook and fills it in its `AppConfig.ready`, so that import-linter sees both ends as imports. `declared`
is the graph of all hooks; `core/tests/test_hooks.py` compares it with the allowed edges.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Generic, TypeVar

Part = TypeVar("Part")


class Hook(Generic[Part]):
    """A call of one app into apps that it must not import: they fill it with named functions or classes (`parts`), and
    it calls those.

    Filling a name twice is an error.
    """

    def __init__(self, path: str) -> None:
        """`path` is where this hook is declared: its module without `controlplane.`, and its name there."""
        self._parts: dict[str, Part] = {}
        _DECLARED[path] = self

    def fill(self, name: str, part: Part) -> None:
        if name in self._parts:
            raise ValueError(f"{name} is filled twice: by {self._parts[name]} and by {part}")
        self._parts[name] = part

    @property
    def parts(self) -> Mapping[str, Part]:
        return MappingProxyType(self._parts)

    @property
    def part(self) -> Part:
        """The only part of a hook that exactly one app fills."""
        (only,) = self._parts.values()
        return only


_DECLARED: dict[str, Hook[Any]] = {}


def declared() -> Mapping[str, Hook[Any]]:
    """Returns every declared hook by its path, such as `core.events.EVENT_FACTS`; the result cannot be changed."""
    return MappingProxyType(_DECLARED)
