"""JSON as the standard has it: no NaN, no NUL characters, no lone surrogates, no repeated names."""

from __future__ import annotations

import json
from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


def _constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _has_nul(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_nul(part) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return any(map(_has_nul, value))
    return isinstance(value, str) and "\x00" in value


def _body(stream: Any, parser_context: Any) -> bytes:
    """Reads the body through Django, because only that has a size limit."""
    body: bytes = parser_context["request"].body if parser_context else stream.read()
    return body


class StrictJSONParser(BaseParser):
    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        try:
            text = _body(stream, parser_context).decode("utf-8")
            value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
            json.dumps(value, ensure_ascii=False).encode("utf-8")  # a lone surrogate fails here
        except (ValueError, RecursionError) as error:
            raise ParseError(f"The body is not valid JSON: {error}") from error
        if "\\u0000" in text and _has_nul(value):
            raise ParseError("The body contains a NUL character, which cannot be stored.")
        return value
