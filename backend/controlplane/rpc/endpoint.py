"""Handles one request of the dialect. All errors have the dialect's format."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.response import Response

from controlplane.accounts.roles import covers
from controlplane.core import idempotency
from controlplane.core.problems import RETRY
from controlplane.core.request_context import caller
from controlplane.core.throttling import CallerThrottle
from controlplane.rpc.actions import ACTIONS
from controlplane.rpc.actions.action import Action
from controlplane.rpc.arguments import read_all
from controlplane.rpc.authentication import authenticate
from controlplane.rpc.call import VERSION, Call, call_from
from controlplane.rpc.errors import RpcError
from controlplane.rpc.rendering import response
from controlplane.rpc.translation import from_exception

CLIENT_TOKEN = "ClientToken"  # noqa: S105 - the name of an argument
METHODS = ("GET", "POST")


def answer(request: HttpRequest) -> HttpResponse:
    is_xml = False
    try:
        call = call_from(request)
        is_xml = call.is_xml
        return response(_answered(request, call), is_xml=is_xml, root=f"{call.action}Response")
    except Exception as error:
        return _refusal(request, from_exception(error), is_xml)


def _refusal(request: HttpRequest, error: RpcError, is_xml: bool) -> HttpResponse:
    body = {
        "RequestId": caller().request_id,
        "HostId": request.META.get("HTTP_HOST", ""),
        "Code": error.code,
        "Message": error.message,
        "Recommend": f"https://fast-query-cache.dev/problems/{error.code}",
    }
    refusal = response(body, status=error.status, is_xml=is_xml)
    if error.status in {429, 503}:
        refusal.headers["Retry-After"] = RETRY["Retry-After"]
    return refusal


def _answered(request: HttpRequest, call: Call) -> dict[str, Any]:
    action = _action(call)
    request.user, role = authenticate(call)
    if not CallerThrottle().allow_request(request, None):
        raise RpcError("Throttling.User", "Too many requests in a minute: wait, then go on.", 429)
    if not covers(role, action.role):
        raise RpcError("Forbidden.RAM", f"{call.action} takes the role {action.role}; your role here is {role}.", 403)
    given = read_all(action.arguments, call.own_arguments, call.action)
    return _once(call, action, given)


def _action(call: Call) -> Action:
    if call.method not in METHODS:
        raise RpcError("UnsupportedHTTPMethod", f"Use GET or POST, not {call.method}.", 405)
    if not call.action:
        raise RpcError("MissingAction", "Name an action in x-acs-action or Action.")
    if call.version != VERSION:
        raise RpcError("InvalidVersion", f"The version here is {VERSION}, not {call.version!r}.")
    if call.action not in ACTIONS:
        known = ", ".join(sorted(ACTIONS))
        raise RpcError("InvalidAction.NotFound", f"There is no action {call.action} here. There are: {known}.", 404)
    return ACTIONS[call.action]


def _once(call: Call, action: Action, given: dict[str, Any]) -> dict[str, Any]:
    """Runs the action and returns the body of its answer.

    A repeated request with the same ClientToken gets the first answer without acting again; one that failed may be
    repeated.
    """
    token = given.pop(CLIENT_TOKEN, None)
    if token is None or not action.is_write:
        return _run(action, given)
    said = json.dumps([call.action, sorted(call.own_arguments.items())])
    try:
        kept = idempotency.claim(caller(), f"rpc {token}", hashlib.sha256(said.encode()).hexdigest())
    except idempotency.Replay as replay:
        return dict(replay.response.data)
    try:
        body = _run(action, given)
    except Exception:
        idempotency.fail(kept)
        raise
    idempotency.finish(kept, Response(body))
    return body


def _run(action: Action, given: dict[str, Any]) -> dict[str, Any]:
    return {"RequestId": caller().request_id, **action.handle(given)}
