"""A statement without its literals, and its digest, as the engine makes them (engine/crates/sql/src/shape.rs). Pure.

Of texts that the engine takes apart by other means (with comments or parameters, say), none is made here.
"""

from __future__ import annotations

import re

# In this order: what comes first, wins. A text that none of them fits has no shape here.
_PIECES = re.compile(
    r"""
    (?P<number>[0-9]+(?:\.[0-9]*)?(?![\w$.\x80-\U0010ffff]))
    | (?P<text>'(?:[^'\\]|\\.|'')*'(?!["']) | "(?:[^"\\]|\\.|"")*"(?!["']))
    | (?P<name>`(?:[^`]|``)*` | \.?(?![0-9])(?:[\w$\x80-\U0010ffff])+)
    | (?P<sign>(?!--|/\*|\.[0-9])[^\x00\#;@?\\'"`0-9\w$])
    """,
    re.VERBOSE | re.DOTALL,
)
_PREFIXES = {"x", "b", "n"}  # of literals such as x'0f'
_BASIS, _PRIME, _MASK = 0x6C62272E07BB014262B821756295C58D, (1 << 88) + 0x13B, (1 << 128) - 1


def shape_of(text: str) -> str | None:
    found, at = [], 0
    while at < len(text):
        piece = _PIECES.match(text, at)
        if piece is None:
            return None
        at = piece.end()
        if piece["number"]:
            found.append("?")
        elif piece["text"]:
            found.append("'?'")
        elif piece[0].lower() in _PREFIXES and text[at : at + 1] == "'":
            return None
        else:
            found.append(piece[0])
    return "".join(found)


def digest_of(text: str) -> str | None:
    """As `SHOW FQC QUERIES` shows it."""
    shape = shape_of(text)
    if shape is None:
        return None
    number = _BASIS
    for byte in shape.encode():
        number = ((number ^ byte) * _PRIME) & _MASK
    number = ((number ^ number >> 67) * _PRIME) & _MASK
    return f"{number ^ number >> 59:032x}"
