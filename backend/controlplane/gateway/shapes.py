"""A statement without its literals, and its digest, computed like the engine does (engine/crates/sql/src/shape.rs).
Pure.

Some texts, for example with comments or parameters, are handled differently by the engine. They get no shape here.
"""

from __future__ import annotations

import re

# Alternatives in order of precedence. A text with a piece that matches none of them has no shape here.
_PIECES = re.compile(
    r"""
    (?P<number>[0-9]+(?:\.[0-9]*)?(?![\w$.\x80-\U0010ffff]))
    | (?P<text>'(?:[^'\\]|\\.|'')*'(?!["']) | "(?:[^"\\]|\\.|"")*"(?!["']))
    | (?P<name>`(?:[^`]|``)*` | \.?(?![0-9])(?:[\w$\x80-\U0010ffff])+)
    | (?P<sign>(?!--|/\*|\.[0-9])[^\x00\#;@?\\'"`0-9\w$])
    """,
    re.VERBOSE | re.DOTALL,
)
_PREFIXES = {"x", "b", "n"}  # prefixes of literals such as x'0f'
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
    """Returns the statement's digest as `SHOW FQC QUERIES` lists it; None if it cannot be computed here, because
    `shape_of` returns None.
    """
    shape = shape_of(text)
    if shape is None:
        return None
    number = _BASIS
    for byte in shape.encode():
        number = ((number ^ byte) * _PRIME) & _MASK
    number = ((number ^ number >> 67) * _PRIME) & _MASK
    return f"{number ^ number >> 59:032x}"
