"""Parses numbers as servers write them. Pure.

A server may answer anything. Text that is not a plain number within the limit becomes None, so that later computations
and columns cannot overflow.
"""

from __future__ import annotations

import re

MOST_STORED = 2**63 - 1  # of a bigint column
MOST_COUNTED = 2**64 - 1  # servers count in 64 bits without a sign
_DIGITS = re.compile(r"[0-9]{1,20}")
_DECIMAL = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?")


def whole(text: str | None, most: int = MOST_STORED) -> int | None:
    """Parses a whole number without a sign.

    None if `text` is None or not such a number, or the number exceeds `most`.
    """
    if text is None or not _DIGITS.fullmatch(text):
        return None
    number = int(text)
    return number if number <= most else None


def decimal(text: str | None) -> float | None:
    """Parses a number such as 3 or 0.25, without a sign or exponent. None if `text` is None or not such a number."""
    return float(text) if text is not None and _DECIMAL.fullmatch(text) else None
