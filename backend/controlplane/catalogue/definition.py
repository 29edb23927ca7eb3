"""The definition of one parameter of an engine line. Pure.

Values are text everywhere, as servers and users write them, so that both 18446744073709551615 and 0.1 are exact. A
bound or a default may be an expression, which callers with an instance class resolve first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .access import ADMIN, NEVER, Access, access_of
from .allowed import Allowed, parse_allowed

TYPES = ("integer", "decimal", "boolean", "enum", "set", "flags", "string")


@dataclass(frozen=True)
class Definition:
    name: str
    type: str
    default: str | None
    allowed: Allowed
    access: Access
    unit: str = ""  # empty: a bare number or text, or the server did not say
    aliases: Mapping[str, str] = field(default_factory=dict)  # upper-case spelling -> choice
    divisor: int = 1  # a value must be a multiple, else it is refused
    # the server rounds to multiples of the product of these numbers and parameters
    rounds_to: tuple[int | str, ...] = ()
    needs_restart: bool = False
    description: str = ""

    @property
    def is_admin_only(self) -> bool:
        return self.access.who == ADMIN

    @property
    def is_modifiable(self) -> bool:
        return self.access.who != NEVER

    def with_bounds(self, minimum: str | None, maximum: str | None) -> Definition:
        return replace(self, allowed=replace(self.allowed, minimum=minimum, maximum=maximum))


def definition_from(raw: Mapping[str, Any]) -> Definition:
    """Returns the definition that an entry of a line describes.

    Entries come from the shipped files or were read from a server; missing keys have defaults.
    """
    rounds_to = raw.get("rounds_to", [])
    is_fixed = raw.get("readonly", False)
    allowed = parse_allowed(raw.get("allowed", ""))
    return Definition(
        name=raw["name"],
        type=raw["type"],
        default=raw.get("default"),
        allowed=allowed,
        unit=raw.get("unit", ""),
        aliases=raw.get("aliases", {}),
        divisor=raw.get("divisor", 1),
        rounds_to=tuple(rounds_to) if isinstance(rounds_to, list) else (rounds_to,),
        access=access_of(raw["name"], raw["type"], raw.get("default"), allowed.choices, is_fixed=is_fixed),
        needs_restart=raw.get("restart", False),
        description=raw.get("about", ""),
    )
