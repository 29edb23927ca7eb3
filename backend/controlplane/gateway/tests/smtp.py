"""A real SMTP server for tests: aiosmtpd on a free port of the loopback, answering as the test wishes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

TAKEN = "250 taken"


class Mailbox:
    """The mails that the SMTP server of a test has accepted, and the answers that the test wants it to give."""

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        self.recipients: list[list[str]] = []
        self.answer_to_data = TAKEN
        self.answer_to_recipient = ""
        self.unknown: set[str] = set()
        self.hangs_up = False

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if self.answer_to_recipient:
            return self.answer_to_recipient
        if address in self.unknown:
            return "550 unknown"
        envelope.rcpt_tos.append(address)
        return "250 known"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.answer_to_data == TAKEN:
            self.messages.append(message_from_bytes(envelope.content, policy=policy.default))  # type: ignore[arg-type]
            self.recipients.append(envelope.rcpt_tos)
        if self.hangs_up:
            server.transport.abort()
        return self.answer_to_data


class _Controller(Controller):
    def _trigger_server(self) -> None:
        """Stores the port that the system assigned, which is known only now, since port 0 was requested."""
        self.port = self.server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        super()._trigger_server()


def _allow(server: Any, session: Any, envelope: Any, mechanism: str, given: LoginPassword) -> AuthResult:
    return AuthResult(success=(given.login, given.password) == (b"fqc", b"right"), handled=False)


@contextmanager
def smtp_server(*, wants_login: bool = False) -> Iterator[tuple[int, Mailbox]]:
    mailbox = Mailbox()
    login = {"authenticator": _allow, "auth_require_tls": False, "auth_required": True} if wants_login else {}
    controller = _Controller(mailbox, hostname="127.0.0.1", port=0, ready_timeout=180, **login)
    controller.start()
    try:
        yield controller.port, mailbox
    finally:
        controller.stop()
