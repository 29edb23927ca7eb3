"""The base of every API view: known names alone, idempotency keys around POST, ETag from a row's `version`."""

from __future__ import annotations

from typing import Any

from rest_framework import viewsets
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from controlplane.core import idempotency
from controlplane.core.etag import etag_of
from controlplane.core.known_names import check_names
from controlplane.core.models import KeptAnswer


class AnyAccept(DefaultContentNegotiation):
    """Accepts any `Accept` header, for views whose answers are not JSON, such as event streams. The framework would
    refuse a client that asks for another type than JSON.
    """

    def select_renderer(
        self, request: Request, renderers: list[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return JSONRenderer(), "application/json"


# The base class of the API's views: refuses unknown parameters, and answers a repeated POST with the answer that was
# kept for its key. Views are documented by comments, since their docstrings appear in the contract.
class ApiView(APIView):
    # The row for a POST with a key, stored after the answer is rendered and before it is sent.
    kept: KeptAnswer | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        check_names(request)
        self.kept = idempotency.begin(request)

    def handle_exception(self, error: Exception) -> Response:
        if isinstance(error, idempotency.Replay):
            return error.response
        return super().handle_exception(error)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        if self.kept is not None:
            idempotency.finish(self.kept, response)
        return super().finalize_response(request, response, *args, **kwargs)


class ApiViewSet(ApiView, viewsets.GenericViewSet[Any]):
    # Public ids.
    lookup_value_regex = r"[A-Za-z0-9_.-]{1,64}"

    def listed(self, queryset: Any, serializer: Any = None) -> Response:
        page = self.paginate_queryset(self.filter_queryset(queryset))
        return self.get_paginated_response((serializer or self.get_serializer_class())(page, many=True).data)


def with_etag(data: Any, version: int, status: int = 200) -> Response:
    return Response(data, status=status, headers={"ETag": etag_of(version)})
