"""Who is asking: the request id, the actor and the address, known to logs and audit without being passed along.

A caller may bring its own X-Request-ID; anything that is not a short plain word is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from controlplane.core import error_views
from controlplane.core.ids import new_id

PLAIN_WORD = re.compile(r"[A-Za-z0-9._-]{8,64}")


@dataclass(frozen=True)
class Caller:
    request_id: str = ""
    actor: str = "system"
    actor_id: str = ""
    token_prefix: str = ""
    address: str = ""


NOBODY = Caller()
_caller: ContextVar[Caller] = ContextVar("caller", default=NOBODY)


def caller() -> Caller:
    return _caller.get()


def caller_is(actor: str, actor_id: str, token_prefix: str = "") -> None:
    """Called once the request has been authenticated."""
    _caller.set(replace(_caller.get(), actor=actor, actor_id=actor_id, token_prefix=token_prefix))


@contextmanager
def acting_as(actor: str, actor_id: str = "", request_id: str = "") -> Iterator[None]:
    """For work done later on behalf of someone: tasks and commands."""
    token = _caller.set(Caller(request_id=request_id or new_id("req"), actor=actor, actor_id=actor_id))
    try:
        yield
    finally:
        _caller.reset(token)


def address_of(request: HttpRequest) -> str:
    """The client's address; X-Forwarded-For counts only as far as trusted proxies wrote it."""
    forwarded = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]
    if settings.TRUSTED_PROXIES and len(forwarded) >= settings.TRUSTED_PROXIES:
        return forwarded[-settings.TRUSTED_PROXIES]
    return str(request.META.get("REMOTE_ADDR", ""))


def _request_id(request: HttpRequest) -> str:
    brought = request.headers.get("X-Request-ID", "")
    return brought if PLAIN_WORD.fullmatch(brought) else new_id("req")


class RequestContextMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        here = Caller(request_id=_request_id(request), actor="anonymous", address=address_of(request))
        token = _caller.set(here)
        structlog.contextvars.bind_contextvars(request_id=here.request_id)
        try:
            response = self._answer(request)
            response.headers["X-Request-ID"] = here.request_id
            return response
        finally:
            structlog.contextvars.clear_contextvars()
            _caller.reset(token)

    def _answer(self, request: HttpRequest) -> HttpResponse | HttpResponseBase:
        # PostgreSQL has no NUL in text: refused here once instead of in every filter.
        if "\x00" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return error_views.bad_request(request)
        return self.get_response(request)
