"""Splits text into tokens. Every token has its column (from 1) for error messages.

Text that the grammar accepts nowhere is rejected here: decimals, unknown characters, over-long text and over-long
numbers.
"""

import re
from typing import Final, NamedTuple

from .errors import ExpressionSyntaxError
from .names import MAX_DIGITS, MAX_LENGTH

END: Final = "end"
INTEGER: Final = "integer"
NAME: Final = "name"

_TOKEN = re.compile(
    r"(?P<space>[ \t]+)"
    r"|(?P<decimal>[0-9]*\.[0-9]+|[0-9]+\.)"
    r"|(?P<integer>[0-9]+)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<symbol>[{}<>()*/,])"
)


class Token(NamedTuple):
    """A word of an expression. ``kind`` is END, INTEGER, NAME or the symbol itself; ``column`` counts from 1."""

    kind: str
    text: str
    column: int

    @property
    def shown(self) -> str:
        return "the end of the expression" if self.kind == END else f"'{self.text}'"


def tokenize(text: str) -> list[Token]:
    if len(text) > MAX_LENGTH:
        raise ExpressionSyntaxError(MAX_LENGTH + 1, f"{len(text)} characters", f"at most {MAX_LENGTH} characters")
    tokens = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _unknown_character(text, position)
        if match.lastgroup != "space":
            tokens.append(_token(match))
        position = match.end()
    tokens.append(Token(END, "", len(text) + 1))
    return tokens


def _token(match: re.Match[str]) -> Token:
    text, column = match.group(), match.start() + 1
    if match.lastgroup == "decimal":
        raise ExpressionSyntaxError(column, f"'{text}'", "an integer", "write a fraction: *3/4 instead of *0.75")
    if match.lastgroup == "integer":
        if len(text) > MAX_DIGITS:
            raise ExpressionSyntaxError(column, f"a number of {len(text)} digits", f"at most {MAX_DIGITS} digits")
        return Token(INTEGER, text, column)
    if match.lastgroup == "name":
        return Token(NAME, text, column)
    return Token(text, text, column)


def _unknown_character(text: str, position: int) -> ExpressionSyntaxError:
    character = text[position]
    hint = "only * and / combine values; SUM(a, b) adds" if character in "+-" else ""
    shown = f"'{character}'" if character.isprintable() else f"U+{ord(character):04X}"
    return ExpressionSyntaxError(position + 1, shown, "'*', '/', '}' or a value", hint)
