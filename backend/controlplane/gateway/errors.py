"""What can go wrong outside. `is_permanent` says whether trying again can help without someone doing something."""

from __future__ import annotations

from controlplane.core.errors import Problem
from controlplane.core.sealing import CannotOpen


class GatewayError(Problem):
    status, code, title = 502, "server_failed", "The server failed to carry out the request"
    is_permanent = False

    def __init__(self, detail: str, number: int = 0) -> None:
        super().__init__(detail)
        self.number = number  # as the server names the error; 0: it named none

    @property
    def is_late(self) -> bool:
        """The time ran out, at whatever depth."""
        cause: BaseException | None = self
        while cause is not None and not isinstance(cause, TimeoutError):
            cause = cause.__cause__
        return cause is not None


class Unreachable(GatewayError):
    """No connection, or it broke: the server may be down, restarting or slow."""

    status, code, title = 503, "server_unreachable", "The server cannot be reached"


class NoTls(Unreachable):
    """It answers, but without TLS, or with a certificate that is not the one that this instance demands."""

    code, title, is_permanent = "tls_failed", "There is no TLS connection to the server", True


class RefusedEndpoint(GatewayError):
    status, code, title, is_permanent = 422, "endpoint_refused", "The endpoint is outside the allowed networks", True


class AccessDenied(GatewayError):
    status, code, title, is_permanent = 422, "server_denied", "The server denied the account", True


class NotAServer(GatewayError):
    status, code, title, is_permanent = 422, "not_a_server", "No MySQL-compatible server responds at this address", True


class NotUsable(GatewayError):
    """It answered, and this program could make nothing of it: the log has the reason."""

    status, code, title = 502, "answer_not_usable", "The server's answer could not be used"


class PasswordNotOpened(GatewayError):
    status, code, title, is_permanent = CannotOpen.status, CannotOpen.code, CannotOpen.title, True


class RefusedStatement(GatewayError):
    """The server understood and said no: an unknown variable, a wrong value, a missing privilege.

    Its text is part of the detail, and may quote data: who runs somebody else's statement tells the number alone.
    """

    status, code, title, is_permanent = 422, "server_refused", "The server refused the statement", True


class PrivilegeMissing(RefusedStatement):
    """The account was not granted what the statement takes."""

    code, title = "privilege_missing", "The account lacks a privilege"
    privilege = ""  # the narrowest that would do, as far as the server names one


class PasswordWithheld(GatewayError):
    """The server asked for it in a way that would give it away."""

    status, code, title, is_permanent = 422, "password_withheld", "The password was not sent", True


class AnswerTooLong(GatewayError):
    """Read no further: neither memory nor anybody's patience is the server's to use up."""

    status, code, title, is_permanent = 422, "answer_too_long", "The server's answer is too large", True
