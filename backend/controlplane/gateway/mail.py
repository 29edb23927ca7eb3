"""Hands one message to an SMTP server, within a time limit.

It connects to a checked address, like connections to managed servers. The password is only sent over verified TLS,
except to this machine itself, and the server's replies are limited in length.

Since a mail must never arrive twice, there are three kinds of failure: refused for good; not accepted now, so that a
repeat is right; and lost after the text was sent, when it is unknown whether the mail will arrive, so that a repeat
would be wrong.
"""

from __future__ import annotations

import ipaddress
import smtplib
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from typing import BinaryIO

from controlplane.gateway.dial import dial, ended_by
from controlplane.gateway.endpoint import checked_addresses
from controlplane.gateway.errors import GatewayError, PasswordWithheld, RefusedEndpoint, Unreachable

TIMEOUT_SECONDS = 30.0  # for the whole session, including the lookup of the server's name
MOST_REPLY_BYTES = 64 * 1024  # of a session's replies; counted from 0 again after STARTTLS
ENCRYPTED = {"starttls", "tls"}
# The reply with which mail servers refuse an address that SMTP cannot carry.
NOT_CARRIED = (553, b"the address has characters that SMTP cannot carry")


@dataclass(frozen=True)
class MailServer:
    host: str
    port: int
    security: str = "none"
    username: str = ""
    password: str = ""
    networks: tuple[str, ...] = ()  # the networks that the server may be in
    timeout_seconds: float = TIMEOUT_SECONDS

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"


class MailRefused(GatewayError):
    code, title, is_permanent = "mail_refused", "The mail server refused the message", True


class MailDelayed(GatewayError):
    status, code, title = 503, "mail_delayed", "The mail server did not accept the message"


class MailServerFailed(MailDelayed):
    """The mail server cannot be reached, does not answer or refuses to talk: another message would fail in the same
    way.

    The message was not sent and may be tried again later.
    """


class MailServerForbidden(MailServerFailed):
    """The server's address is not allowed.

    Mails wait, since an administrator may allow its network, or the name may be wrong.
    """

    status, code, title = (
        RefusedEndpoint.status,
        RefusedEndpoint.code,
        "The mail server is outside the allowed networks",
    )


class MailPasswordWithheld(MailServerFailed):
    status, code, title = PasswordWithheld.status, PasswordWithheld.code, PasswordWithheld.title


class MailUncertain(GatewayError):
    code, title, is_permanent = "mail_uncertain", "The mail server closed the connection early", True


def deliver(message: EmailMessage, recipients: Sequence[str], server: MailServer) -> list[str]:
    """Sends the message in one SMTP session and returns once the server has accepted it.

    The result is the recipients that the server refused, if it took others. Raises MailRefused: do not send it again;
    MailDelayed or MailServerFailed: send it again later; MailUncertain: it may arrive, so do not send it again.
    """
    with _session(server) as session:
        _expect(session.mail(message["From"]), "MAIL FROM", server)
        answers = {recipient: _answer_to_recipient(session, recipient) for recipient in recipients}
        refused = [recipient for recipient, (code, _) in answers.items() if not 200 <= code < 400]
        if len(refused) == len(answers):
            _expect(min(answers.values()), f"RCPT TO {', '.join(recipients)}", server)
        _expect(_answer_to_text(session, message, server), "the text", server)
        return refused


def _answer_to_recipient(session: smtplib.SMTP, recipient: str) -> tuple[int, bytes]:
    """Names a recipient to the mail server and returns its reply.

    An address that SMTP cannot carry counts as refused, so that the others get the message.
    """
    try:
        return session.rcpt(recipient)
    except UnicodeError:
        return NOT_CARRIED


def _answer_to_text(session: smtplib.SMTP, message: EmailMessage, server: MailServer) -> tuple[int, bytes]:
    try:
        code, said = session.data(message.as_bytes(policy=SMTP))
    except smtplib.SMTPDataError as error:
        return error.smtp_code, _bytes(error.smtp_error)
    except (smtplib.SMTPServerDisconnected, OSError) as error:
        raise MailUncertain(f"{server.place}: {error}. The message may arrive; it is not sent again.") from error
    if not _is_code(code):
        raise MailUncertain(
            f"{server.place}: {said!r} is not a valid reply. The message may arrive; it is not sent again."
        )
    return code, said


def mail_addresses(server: MailServer) -> list[str]:
    """Returns the mail server's addresses to connect to.

    Raises MailServerForbidden if one is outside the allowed networks, MailServerFailed if the name does not resolve,
    and MailPasswordWithheld if the password would leave this machine without TLS.
    """
    try:
        addresses = checked_addresses(server.host, server.networks, server.timeout_seconds)
    except RefusedEndpoint as error:
        raise MailServerForbidden(error.detail) from error
    except Unreachable as error:
        raise MailServerFailed(error.detail) from error
    if server.username and server.security not in ENCRYPTED and not all(map(_is_this_machine, addresses)):
        raise MailPasswordWithheld(
            f"{server.place}: the account's password is not sent without TLS. Choose STARTTLS or TLS."
        )
    return addresses


def _is_this_machine(address: str) -> bool:
    return ipaddress.ip_address(address.split("%")[0]).is_loopback


@contextmanager
def _session(server: MailServer) -> Iterator[smtplib.SMTP]:
    until = time.monotonic() + server.timeout_seconds
    try:
        with dial(mail_addresses(server), server.port, until) as sock, ended_by(until, sock):
            session = _opened(sock, server)
            try:
                yield session
            finally:
                _quit(session)
    except smtplib.SMTPNotSupportedError as error:
        raise MailServerFailed(f"{server.place}: {error} Choose another encryption, or remove the account.") from error
    except UnicodeError as error:
        raise MailRefused(f"{server.place}: an address has characters that SMTP cannot carry ({error}).") from error
    except (smtplib.SMTPException, OSError) as error:
        why = f"not done within {server.timeout_seconds:g} s" if time.monotonic() >= until else error
        raise MailServerFailed(f"{server.place}: {why}. Check the address, and that the server is running.") from error


class _Session(smtplib.SMTP):
    """An SMTP session on a socket that is connected already, where smtplib would open one itself."""

    def __init__(self, sock: socket.socket, server: MailServer) -> None:
        self._given = sock
        super().__init__(server.host, server.port, local_hostname=_own_name(sock))

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self._given

    def getreply(self) -> tuple[int, bytes]:
        """Reads one reply of the mail server, and returns its code and text. Overrides smtplib's method, which only
        limits the length of each line, to limit the bytes of all replies together (MOST_REPLY_BYTES).
        """
        if self.file is None and self.sock is not None:
            self.file = _LimitedReplies(self.sock.makefile("rb"))
        return super().getreply()


class _LimitedReplies:
    """The mail server's replies as a file that raises SMTPServerDisconnected beyond MOST_REPLY_BYTES."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._left = file, MOST_REPLY_BYTES

    def readline(self, most_bytes: int) -> bytes:
        line = self._file.readline(most_bytes)
        self._left -= len(line)
        if self._left < 0:
            raise smtplib.SMTPServerDisconnected(f"it sent more than {MOST_REPLY_BYTES:,} bytes")
        return line

    def close(self) -> None:
        self._file.close()


def _own_name(sock: socket.socket) -> str:
    """Returns this machine's name or address for EHLO, without asking a resolver as smtplib would."""
    name, address = socket.gethostname(), sock.getsockname()[0]
    if "." in name:
        return name
    return f"[IPv6:{address}]" if ":" in address else f"[{address}]"


def _opened(sock: socket.socket, server: MailServer) -> smtplib.SMTP:
    if server.security == "tls":
        sock = ssl.create_default_context().wrap_socket(sock, server_hostname=server.host)
    session = _Session(sock, server)
    try:
        if server.security == "starttls":
            session.starttls(context=ssl.create_default_context())
        session.ehlo_or_helo_if_needed()
        if server.username:
            _log_in(session, server)
    except BaseException:
        session.close()
        raise
    return session


def _log_in(session: smtplib.SMTP, server: MailServer) -> None:
    """Logs in at the mail server.

    Raises MailRefused if the account is denied, MailServerFailed if that may pass. Their texts leave out the server's
    reply, since it may repeat what it was sent, including the password.
    """
    account = f"the account {server.username!r}"
    try:
        session.login(server.username, server.password)
    except (smtplib.SMTPNotSupportedError, smtplib.SMTPServerDisconnected):
        raise
    except smtplib.SMTPAuthenticationError as error:
        if _is_code(error.smtp_code) and error.smtp_code >= 500:
            raise MailRefused(f"{server.place}: the server denied {account} ({error.smtp_code}).") from None
        raise MailServerFailed(f"{server.place} cannot check {account} now ({error.smtp_code}).") from None
    except UnicodeError:
        raise MailRefused(f"{server.place}: the name or password of {account} has characters beyond ASCII.") from None
    except (smtplib.SMTPException, ValueError):
        raise MailServerFailed(f"{server.place} does not authenticate {account} as SMTP servers do.") from None


def _quit(session: smtplib.SMTP) -> None:
    try:
        session.quit()
    except (smtplib.SMTPException, OSError):
        session.close()


def _is_code(code: int) -> bool:
    """Returns whether `code` is a real SMTP reply code. For a truncated reply smtplib returns fewer digits, or -1."""
    return 200 <= code < 600


def _bytes(said: bytes | str) -> bytes:
    return said.encode() if isinstance(said, str) else said


def _expect(answer: tuple[int, bytes], step: str, server: MailServer) -> None:
    code, said = answer
    if not _is_code(code):
        raise MailServerFailed(f"{server.place}: {said!r} is not a valid reply to {step}. Does it speak SMTP?")
    if code < 400:
        return
    kind = MailRefused if code >= 500 else MailDelayed
    raise kind(f"{server.place} answered {code} to {step}: {said.decode(errors='replace')[:200]}")
