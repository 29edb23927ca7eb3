"""Errors of external systems. `is_permanent`: trying again cannot help before someone fixes the cause."""

from __future__ import annotations

from controlplane.core.errors import Problem
from controlplane.core.sealing import CannotOpen


class GatewayError(Problem):
    status, code, title = 502, "server_failed", "The server failed to carry out the request"
    is_permanent = False

    def __init__(self, detail: str, number: int = 0) -> None:
        super().__init__(detail)
        self.number = number  # the server's error number; 0 if there is none

    @property
    def is_late(self) -> bool:
        """True if this error was caused by a time limit that was exceeded: the other system is too slow."""
        cause: BaseException | None = self
        while cause is not None and not isinstance(cause, TimeoutError):
            cause = cause.__cause__
        return cause is not None


class Unreachable(GatewayError):
    """There is no connection to the other system, or it broke: the system may be down, restarting or slow. Trying again
    may help.
    """

    status, code, title = 503, "server_unreachable", "The server cannot be reached"


class NoTls(Unreachable):
    """The server has no TLS, or its certificate is not valid for the host name and the authorities of this instance."""

    code, title, is_permanent = "tls_failed", "There is no TLS connection to the server", True


class RefusedEndpoint(GatewayError):
    status, code, title, is_permanent = 422, "endpoint_refused", "The endpoint is outside the allowed networks", True


class AccessDenied(GatewayError):
    status, code, title, is_permanent = 422, "server_denied", "The server denied the account", True


class NotAServer(GatewayError):
    status, code, title, is_permanent = 422, "not_a_server", "No MySQL-compatible server responds at this address", True


class NotUsable(GatewayError):
    """Handling the server's answer failed in an unforeseen way. The control plane's log has the reason."""

    status, code, title = 502, "answer_not_usable", "The server's answer could not be used"


class PasswordNotOpened(GatewayError):
    status, code, title, is_permanent = CannotOpen.status, CannotOpen.code, CannotOpen.title, True


class RefusedStatement(GatewayError):
    """The server understood the statement and refused it: an unknown variable, a wrong value, a missing privilege.

    The server's text is part of the detail and may quote data. Code that runs a user's statement must only show the
    number.
    """

    status, code, title, is_permanent = 422, "server_refused", "The server refused the statement", True


class PrivilegeMissing(RefusedStatement):
    """The account lacks the privilege that the statement requires."""

    code, title = "privilege_missing", "The account lacks a privilege"
    privilege = ""  # the narrowest sufficient privilege, if the server names one


class PasswordWithheld(GatewayError):
    """The server asked for the password in a way that would reveal it, so the password was not sent."""

    status, code, title, is_permanent = 422, "password_withheld", "The password was not sent", True


class AnswerTooLong(GatewayError):
    """The answer is longer than the limit, which protects memory and time. The connection was closed."""

    status, code, title, is_permanent = 422, "answer_too_long", "The server's answer is too large", True
