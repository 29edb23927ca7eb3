"""Translates a service's errors to the RPC dialect.

A `Problem` is translated by a table if the official tools rely on an error name. Otherwise its status and its code make
up the name (`dedicated_proxy` becomes `OperationDenied.DedicatedProxy`), so that every refusal can be recognised.
"""

from __future__ import annotations

from django.core.exceptions import RequestDataTooBig
from django.db import DatabaseError, IntegrityError
from rest_framework.exceptions import ValidationError

from controlplane.core.errors import Problem
from controlplane.core.problems import CHANGED_BESIDE, log_failure
from controlplane.rpc.errors import RpcError

NAMED = {
    "template_not_found": ("ParamGroupsNotExistError", 404),
    "engine_line_not_found": ("InvalidEngineVersion.NotFound", 404),
    "instance_busy": ("OperationDenied.DBInstanceStatus", 403),
    "change_at_work": ("OperationDenied.DBInstanceStatus", 403),
    "instance_moved": ("IncorrectDBInstanceState", 403),
    "name_taken": ("InvalidParameterGroupName.Duplicate", 400),
    "answer_lost": ("IdempotentAnswerLost", 409),
    "key_reused": ("IdempotentParameterMismatch", 400),
    "in_progress": ("IdempotentRequestInProgress", 403),
    "unknown_metric": ("InvalidKey.NotFound", 404),
    "invalid": ("InvalidParameter", 400),
    "internal": ("InternalError", 500),
}
FAMILY = {
    400: "InvalidParameter",
    403: "OperationDenied",
    404: "NotFound",
    409: "OperationDenied",
    422: "OperationDenied",
}
STATUS = {409: 403, 412: 400, 422: 400, 428: 400}


def from_problem(problem: Problem) -> RpcError:
    if problem.code in NAMED:
        code, status = NAMED[problem.code]
        return RpcError(code, problem.detail, status)
    family = FAMILY.get(problem.status, "InternalError" if problem.status >= 500 else "InvalidParameter")
    name = "".join(word.capitalize() for word in problem.code.split("_"))
    return RpcError(f"{family}.{name}", problem.detail, STATUS.get(problem.status, problem.status))


def from_exception(error: Exception) -> RpcError:
    if isinstance(error, RpcError):
        return error
    if isinstance(error, Problem):
        return from_problem(error)
    if isinstance(error, ValidationError):
        return RpcError("InvalidParameter", _first(error.detail))
    if isinstance(error, RequestDataTooBig):
        return RpcError("InvalidRequest.TooLarge", "The request is over 2 MiB: send less at once.", 413)
    log_failure("rpc_failed", error)
    if isinstance(error, IntegrityError):
        return RpcError("OperationDenied.Conflict", CHANGED_BESIDE, 403)
    if isinstance(error, DatabaseError):
        return RpcError("ServiceUnavailable", "The control plane's database failed: try again.", 503)
    return RpcError(
        "InternalError", "An unexpected error occurred; the log has the details under this request ID.", 500
    )


def _first(detail: object, path: str = "") -> str:
    """Returns the first of a serializer's nested errors as `field: error`."""
    if isinstance(detail, dict):
        name, inner = next(iter(detail.items()))
        return _first(inner, f"{path}.{name}".lstrip("."))
    if isinstance(detail, list):
        return _first(detail[0], path)
    return f"{path}: {detail}" if path else str(detail)
