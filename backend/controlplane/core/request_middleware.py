"""Gives every request its context: an id, which the answer contains too, and the caller's address.

A caller may send its own X-Request-ID; anything but a short plain word is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from controlplane.core import error_views
from controlplane.core.ids import new_id
from controlplane.core.request_context import Caller, called_by

PLAIN_WORD = re.compile(r"[A-Za-z0-9._-]{8,64}")


def _request_id(request: HttpRequest) -> str:
    brought = request.headers.get("X-Request-ID", "")
    return brought if PLAIN_WORD.fullmatch(brought) else new_id("req")


class RequestContextMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        address = str(request.META.get("REMOTE_ADDR", ""))
        here = Caller(request_id=_request_id(request), actor="anonymous", address=address)
        with called_by(here), structlog.contextvars.bound_contextvars(request_id=here.request_id):
            response = self._answer(request)
            response.headers["X-Request-ID"] = here.request_id
            return response

    def _answer(self, request: HttpRequest) -> HttpResponse | HttpResponseBase:
        # PostgreSQL has no NUL in text. Paths are refused here instead of in every view, parameters by `known_names`.
        if "\x00" in request.path:
            return error_views.bad_request(request)
        return self.get_response(request)
