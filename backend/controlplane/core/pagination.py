"""Cursor pages: stable under inserts, no counting, constant cost on any page.

A view states its order in `ordering`; the last column must be unique. `limit` is 1 to 200.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.core.exceptions import ValidationError
from django.db import DataError
from rest_framework import pagination
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.core.errors import Invalid


class CursorPages(pagination.CursorPagination):
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200
    ordering = ("-created_at", "-id")

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> Any:
        return getattr(view, "ordering", self.ordering)

    def get_page_size(self, request: Request) -> int | None:
        text = request.query_params.get("limit")
        if text is None:
            return self.page_size
        if not (text.isascii() and text.isdigit() and len(text) <= 3 and 1 <= int(text) <= self.max_page_size):
            raise Invalid.field("limit", f"write a whole number from 1 to {self.max_page_size}")
        return int(text)

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        try:
            return super().paginate_queryset(queryset, request, view)
        except (NotFound, ValidationError, ValueError, OverflowError, DataError) as error:
            if not request.query_params.get(self.cursor_query_param):
                raise
            # The cursor's content is compared with a column. A client may write anything into it, also values that no
            # column accepts.
            raise Invalid.field("cursor", "this is not a cursor of this list: start again without one") from error

    def get_paginated_response(self, data: Any) -> Response:
        return Response(
            {"items": data, "next": _cursor(self.get_next_link()), "previous": _cursor(self.get_previous_link())}
        )

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        cursor = {"type": ["string", "null"], "description": "Pass as `cursor`; null at the end."}
        return {
            "type": "object",
            "required": ["items", "next", "previous"],
            "properties": {"items": schema, "next": cursor, "previous": cursor},
        }


def _cursor(link: str | None) -> str | None:
    """Returns the cursor in DRF's link to another page, since clients add it to their own address; None if there is no
    such page.

    It is empty for the first page.
    """
    return parse_qs(urlsplit(link).query, keep_blank_values=True)["cursor"][0] if link else None
