"""Problem details for what fails outside the API's own views: unknown routes, CSRF, malformed requests."""

from __future__ import annotations

import sys
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse

from controlplane.core import problems
from controlplane.core.errors import Busy
from controlplane.core.ids import new_id
from controlplane.core.request_context import Caller, called_by, caller


def _problem(status: int, detail: str, code: str = "") -> JsonResponse:
    return JsonResponse(problems.body(status, detail, code=code), status=status, content_type=problems.CONTENT_TYPE)


def busy(error: Busy) -> JsonResponse:
    """Returns the answer to a request that was turned away before any middleware saw it; its id is made here."""
    with called_by(Caller(request_id=new_id("req"))):
        told, headers = problems.rendered(error)
        headers |= {"X-Request-ID": caller().request_id, "Cache-Control": "no-store"}
    response = JsonResponse(told, status=error.status, content_type=problems.CONTENT_TYPE, headers=headers)
    response.headers["Content-Length"] = str(len(response.content))  # a middleware adds this to other answers
    return response


def bad_request(request: HttpRequest, exception: Any = None) -> JsonResponse:
    return _problem(400, "The request is malformed.")


def forbidden(request: HttpRequest, exception: Any = None) -> JsonResponse:
    return _problem(403, "Your role does not allow this.")


def not_found(request: HttpRequest, exception: Any = None) -> JsonResponse:
    return _problem(404, f"Nothing exists at {request.path}.")


def server_error(request: HttpRequest) -> JsonResponse:
    if isinstance(sys.exc_info()[1], DatabaseError):  # an error outside of the views, mostly of the session
        told = problems.body(503, "The control plane's database failed. Try again; the log has the details.")
        return JsonResponse(told, status=503, content_type=problems.CONTENT_TYPE, headers=problems.RETRY)
    return _problem(500, "An unexpected error occurred. The log has the details under this request ID.")


def csrf_failure(request: HttpRequest, reason: str = "") -> JsonResponse:
    return _problem(
        403,
        "The CSRF token is missing or wrong. Load the page again; a program reads it from the session.",
        "csrf_failed",
    )
