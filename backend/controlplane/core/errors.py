"""Errors as values with a stable code. Pure: no Django.

A `Problem` contains everything for the answer: HTTP status, code, a sentence that says what failed, on what and what to
do next, and the fields at fault. Codes are stable, sentences are not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class FieldError:
    field: str  # dotted path into the request body, or the name of a query parameter or header
    code: str
    detail: str


class Problem(Exception):
    status = 500
    code = "internal"
    title = "Internal error"
    retry_after_seconds = 0  # if not 0, the answer says when to try again

    def __init__(self, detail: str, *, code: str = "", errors: list[FieldError] | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or self.code
        self.errors = errors or []
        self.statements: list[str] = []  # statements for a person to run on the server


class Invalid(Problem):
    status, code, title = 400, "invalid", "The request is not valid"

    @classmethod
    def field(cls, field: str, detail: str, code: str = "invalid") -> Invalid:
        return cls(f"{field}: {detail}", errors=[FieldError(field, code, detail)])


class PasswordRequired(Invalid):
    """The request changes which server a stored password is sent to, or how, so it must contain the password again: a
    stored password is only sent to the server that it was given for.
    """

    code, title = "password_required", "The password is needed again"

    def __init__(self, field: str, changed: Iterable[str]) -> None:
        detail = f"give the password again: the stored one was not given for the new {', '.join(changed)}"
        super().__init__(f"{field}: {detail}.", errors=[FieldError(field, self.code, detail)])


class Denied(Problem):
    status, code, title = 403, "denied", "Not allowed"


class NotFound(Problem):
    status, code, title = 404, "not_found", "Not found"


class Conflict(Problem):
    status, code, title = 409, "conflict", "The current state does not allow this"


class NameTaken(Conflict):
    code, title = "name_taken", "The name is taken"

    def __init__(self, kind: str, name: str, *, field: str = "name") -> None:
        detail = f"There is {kind} {name} already: choose another name."
        super().__init__(detail, errors=[FieldError(field, self.code, detail)])


class PreconditionFailed(Problem):
    status, code, title = 412, "changed_meanwhile", "The resource has changed in the meantime"


class Refused(Problem):
    """A check refused the request. `errors` names the blocking findings."""

    status, code, title = 422, "refused", "Refused by a check"


class PreconditionRequired(Problem):
    status, code, title = 428, "if_match_required", "If-Match is required"


class Busy(Problem):
    status, code, title = 429, "busy", "Too much at once"
    retry_after_seconds = 5
