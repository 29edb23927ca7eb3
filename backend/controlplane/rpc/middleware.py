"""Handles requests of the dialect before the middleware for browsers: static files, sessions, CSRF.

All other requests pass, so `/` still is the console. Host names are not checked against FQC_ALLOWED_HOSTS: the
signature covers the host, and nothing here depends on it.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from controlplane.core.request_middleware import RequestContextMiddleware
from controlplane.rpc.call import is_rpc
from controlplane.rpc.endpoint import answer


class RpcContext(RequestContextMiddleware):
    """Gives requests of the RPC dialect their context.

    NUL characters are not refused here, since that error would not be in the dialect's format; `call_from` refuses
    them.
    """

    def _answer(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)


class RpcMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.answer_rpc = RpcContext(answer)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.answer_rpc(request) if is_rpc(request) else self.get_response(request)
