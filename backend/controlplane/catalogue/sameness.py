"""Compares running with configured values. Pure.

Servers round: a buffer pool to whole chunks, a query cache to 1 KiB. A running value counts as the configured one if it
is that value rounded down or up to the server's step; otherwise drift would be reported for ever.
"""

from __future__ import annotations

from collections.abc import Mapping

from .definition import Definition
from .normal import NotOfType, integer, normal


def is_same(definition: Definition, configured: str, running: str, variables: Mapping[str, str] | None = None) -> bool:
    """Returns whether `running` is `configured`, allowing for the server's rounding and for spelling.

    `variables` has other running values by name, since some rounding steps are products of them.
    """
    try:
        wanted, found = normal(definition, configured), normal(definition, running)
    except NotOfType:
        return configured == running
    if wanted == found:
        return True
    if definition.type == "flags":
        return set(wanted.split(",")) <= set(found.split(","))
    if definition.type != "integer":
        return False
    step = rounding_step(definition, variables or {})
    down = int(wanted) - int(wanted) % step
    up = down if down == int(wanted) else down + step
    return down <= int(found) <= up


def rounding_step(definition: Definition, variables: Mapping[str, str]) -> int:
    """Returns the number to whose multiples the server rounds values of this parameter; 1: it does not round.

    `variables` has running values by name. Parts that are unknown or 0 are ignored; a MariaDB without chunks reports a
    chunk size of 0.
    """
    step = 1
    for part in definition.rounds_to:
        step *= part if isinstance(part, int) else max(_number(variables.get(part, "1")), 1)
    return step


def _number(text: str) -> int:
    try:
        return integer(text)
    except NotOfType:
        return 1
