"""Numbers as servers write them. Pure.

A server may answer anything. What is not a plain number within the given limit is None, so that nothing that is
computed or stored afterwards can overflow.
"""

from __future__ import annotations

import re

MOST_STORED = 2**63 - 1  # of a bigint column
MOST_COUNTED = 2**64 - 1  # servers count in 64 bits without a sign
_DIGITS = re.compile(r"[0-9]{1,20}")
_DECIMAL = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?")


def whole(text: str | None, most: int = MOST_STORED) -> int | None:
    """The number from 0 to `most` that the text is, else None."""
    if text is None or not _DIGITS.fullmatch(text):
        return None
    number = int(text)
    return number if number <= most else None


def decimal(text: str | None) -> float | None:
    """The number without a sign or an exponent that the text is, else None."""
    return float(text) if text is not None and _DECIMAL.fullmatch(text) else None
