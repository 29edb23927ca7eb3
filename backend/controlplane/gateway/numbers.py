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
    """Returns the number from 0 to `most`, else None."""
    if text is None or not _DIGITS.fullmatch(text):
        return None
    number = int(text)
    return number if number <= most else None


def decimal(text: str | None) -> float | None:
    """Returns the number if it has no sign or exponent, else None."""
    return float(text) if text is not None and _DECIMAL.fullmatch(text) else None
