"""Renders answers as JSON, or as XML for requests with `Format=XML`. Pure except for Django's response."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

from django.http import HttpResponse


def response(body: Mapping[str, Any], *, status: int = 200, is_xml: bool = False, root: str = "Error") -> HttpResponse:
    text = f'<?xml version="1.0" encoding="UTF-8"?><{root}>{_xml(body)}</{root}>' if is_xml else json.dumps(body)
    kind = "text/xml" if is_xml else "application/json"
    answer = HttpResponse(text, status=status, content_type=f"{kind};charset=utf-8")
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _xml(value: Any) -> str:
    """Renders a mapping as elements, and any other value as text.

    A list repeats its element, which is how the dialect represents lists.
    """
    if not isinstance(value, Mapping):
        return escape(_text(value))
    parts = []
    for name, inner in value.items():
        each = inner if isinstance(inner, list) else [inner]
        parts += [f"<{name}>{_xml(item)}</{name}>" for item in each]
    return "".join(parts)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
