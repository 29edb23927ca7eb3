"""The failure that ends a command, and its exit code. The codes are documented in README.md; scripts rely on them."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Any


class Exit(IntEnum):
    OK = 0
    ERROR = 1
    USAGE = 2
    NOT_FOUND = 3
    REFUSED = 4
    DENIED = 5
    TIMED_OUT = 6


_BY_STATUS = {
    400: Exit.USAGE,
    401: Exit.DENIED,
    403: Exit.DENIED,
    404: Exit.NOT_FOUND,
    409: Exit.REFUSED,
    412: Exit.REFUSED,
    422: Exit.REFUSED,
}
_NEXT = {
    401: "Log in with `fqc login`, or set FQC_TOKEN.",
    412: "It was changed by someone else. Look at it again, then repeat.",
    429: "Wait a moment, then repeat.",
}


# Lists that a message of the API may name, and the command that shows each.
_LISTS = {
    "instances": "instance", "instance-classes": "class", "templates": "template", "changes": "change",
    "fleet-applies": "fleet", "alert-rules": "alert rule", "incidents": "alert incident", "silences": "alert silence",
    "metric-definitions": "metrics",
}  # fmt: skip


class Failure(Exception):
    """Ends the command. `main` prints the message, then the hint on what to do next, and exits with `code`.
    `problem` is the API's problem document, which a command with JSON output prints; None if the failure is not from
    the API.
    """

    def __init__(self, message: str, code: Exit = Exit.ERROR, *, hint: str = "", problem: Any = None) -> None:
        super().__init__(message)
        self.message, self.code, self.hint, self.problem = message, code, hint, problem


def _command(named: re.Match[str]) -> str:
    """Returns the command that shows a list which a message of the API names, or the text as it is if there is none."""
    return f"`fqc {_LISTS[named[1]]} list`" if named[1] in _LISTS else named[0]


def from_problem(problem: dict[str, Any]) -> Failure:
    """Returns the API's problem document (RFC 9457) as a failure. Fields that its sentence does not name, and
    statements that a person has to run, get a line each.
    """
    fields = [each for each in problem.get("errors", []) if each["field"]]
    lines = [re.sub(r"GET /api/v1/([a-z-]+)", _command, str(problem["detail"]))]
    if len(fields) > 1 or any(each["field"] not in lines[0] for each in fields):
        lines += [f"  {each['field']}: {each['detail']}" for each in fields]
    lines += [f"  {statement}" for statement in problem.get("statements", [])]
    status = int(problem["status"])
    return Failure("\n".join(lines), _BY_STATUS.get(status, Exit.ERROR), hint=_NEXT.get(status, ""), problem=problem)
