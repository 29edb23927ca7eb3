"""RFC 9457 problem details: all errors of the API have this format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import DatabaseError, IntegrityError, OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from controlplane.core.errors import FieldError, Problem
from controlplane.core.request_context import caller

log = structlog.get_logger(__name__)
CONTENT_TYPE = "application/problem+json"
# A check passed, but then a constraint of the database failed because of what another request wrote in the meantime.
CHANGED_BESIDE = "A resource that this request depends on was changed at the same time: read it again and repeat."
RETRY = {"Retry-After": "2"}  # the default if nothing better is known
CODES = {
    400: ("invalid", "The request is not valid"),
    401: ("not_authenticated", "Log in first"),
    403: ("denied", "Not allowed"),
    404: ("not_found", "Not found"),
    405: ("method_not_allowed", "Method not allowed"),
    406: ("not_acceptable", "The requested format is not available"),
    413: ("too_large", "The request is too large"),
    415: ("unsupported_media_type", "Unsupported media type"),
    429: ("rate_limited", "Too many requests"),
    500: ("internal", "Internal error"),
    503: ("unavailable", "Not available now"),
}


def body(
    status_code: int, detail: str, *, code: str = "", title: str = "", errors: Any = (), statements: Any = ()
) -> dict[str, Any]:
    usual_code, usual_title = CODES.get(status_code, CODES[500])
    code = code or usual_code
    problem: dict[str, Any] = {
        "type": f"https://fast-query-cache.dev/problems/{code}",
        "title": title or usual_title,
        "status": status_code,
        "code": code,
        "detail": detail,
        "request_id": caller().request_id,
    }
    if errors:
        problem["errors"] = [{"field": e.field, "code": e.code, "detail": e.detail} for e in errors]
    if statements:
        problem["statements"] = statements
    return problem


def too_large() -> dict[str, Any]:
    return body(413, "The request body is over 2 MiB: send less at once.")


def _flatten(detail: Any, path: str = "") -> Iterator[FieldError]:
    """Yields DRF's nested error details as a flat list with dotted paths."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            step = "" if name == "non_field_errors" else str(name)
            yield from _flatten(inner, ".".join(part for part in (path, step) if part))
    elif isinstance(detail, list):
        for position, inner in enumerate(detail):
            inside = isinstance(inner, dict | list)
            yield from _flatten(inner, f"{path}.{position}".lstrip(".") if inside else path)
    else:
        yield FieldError(path, str(getattr(detail, "code", "invalid")), str(detail))


def _from_validation(error: exceptions.ValidationError) -> dict[str, Any]:
    errors = list(_flatten(error.detail))
    first = errors[0] if errors else FieldError("", "invalid", "the request is not valid")
    return body(400, f"{first.field}: {first.detail}" if first.field else first.detail, errors=errors)


def _from_api(error: exceptions.APIException) -> dict[str, Any]:
    if isinstance(error, exceptions.ValidationError):
        return _from_validation(error)
    detail = error.detail if isinstance(error.detail, str) else error.default_detail
    code = "csrf_failed" if "CSRF" in str(detail) else ""
    return body(error.status_code, str(detail), code=code)


def rendered(error: Problem) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the body and the headers of the answer to a request that failed with this problem."""
    headers = {"Retry-After": str(error.retry_after_seconds)} if error.retry_after_seconds else {}
    named: dict[str, Any] = {
        "code": error.code, "title": error.title, "errors": error.errors, "statements": error.statements,
    }  # fmt: skip
    return body(error.status, error.detail, **named), headers


def _render(error: Exception) -> tuple[dict[str, Any], dict[str, str]]:
    if isinstance(error, Problem):
        return rendered(error)
    if isinstance(error, Http404):
        return body(404, "This resource does not exist, or no longer exists."), {}
    if isinstance(error, PermissionDenied):
        return body(403, str(error) or "Your role does not allow this."), {}
    if isinstance(error, RequestDataTooBig):
        return too_large(), {}
    if isinstance(error, exceptions.APIException):
        headers = {"WWW-Authenticate": error.auth_header} if getattr(error, "auth_header", None) else {}
        if getattr(error, "wait", None):
            headers["Retry-After"] = str(int(error.wait) + 1)
        return _from_api(error), headers
    log_failure("request_failed", error)
    if isinstance(error, IntegrityError):
        return body(409, CHANGED_BESIDE, code="conflict", title="The current state does not allow this"), {}
    if isinstance(error, DatabaseError):
        return body(503, "The control plane's database failed. Try again; the log has the details."), RETRY
    return body(500, "An unexpected error occurred. The log has the details under this request ID."), {}


def log_failure(event: str, error: Exception) -> None:
    """Logs an error under the name `event`, with its traceback; an error of a database that is down, full or locked
    gets one line instead, since it comes with every request.
    """
    if isinstance(error, OperationalError):
        log.error(event, error=str(error).partition("\n")[0])
    else:
        log.exception(event, exc_info=error)


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    problem, headers = _render(error)
    set_rollback()
    response = Response(problem, status=problem["status"], headers=headers, content_type=CONTENT_TYPE)
    response["Cache-Control"] = "no-store"
    return response
