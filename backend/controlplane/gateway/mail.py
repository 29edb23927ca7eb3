"""Handing one message to an SMTP server.

Three ways to fail, since a mail must never arrive twice: refused for good; not taken now (a repeat is right); and lost
after the text was sent, when nobody can say whether it will arrive (a repeat would be wrong).
"""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP

from controlplane.gateway.errors import GatewayError

SECURITIES = ("none", "starttls", "tls")
TIMEOUT_SECONDS = 20.0


@dataclass(frozen=True)
class MailServer:
    host: str
    port: int
    security: str = "none"
    username: str = ""
    password: str = ""
    timeout_seconds: float = TIMEOUT_SECONDS

    @property
    def place(self) -> str:
        return f"{self.host}:{self.port}"


class MailRefused(GatewayError):
    code, title, is_permanent = "mail_refused", "The mail server refused the message", True


class MailDelayed(GatewayError):
    status, code, title = 503, "mail_delayed", "The mail server did not take the message"


class MailUncertain(GatewayError):
    code, title, is_permanent = "mail_uncertain", "The mail server went away after the text was sent", True


def deliver(message: EmailMessage, recipients: Sequence[str], server: MailServer) -> list[str]:
    """Returns once the server has taken responsibility for the message: the recipients it did not take it for."""
    with _session(server) as session:
        _expect(session.mail(message["From"]), "MAIL FROM", server)
        answers = {recipient: session.rcpt(recipient) for recipient in recipients}
        refused = [recipient for recipient, (code, _) in answers.items() if code >= 400]
        if len(refused) == len(answers):
            _expect(min(answers.values()), f"RCPT TO {', '.join(recipients)}", server)
        try:
            answer = session.data(message.as_bytes(policy=SMTP))
        except smtplib.SMTPDataError as error:
            answer = error.smtp_code, _bytes(error.smtp_error)
        except (smtplib.SMTPServerDisconnected, OSError) as error:
            raise MailUncertain(f"{server.place}: {error}. The message may arrive; it is not sent again.") from error
        _expect(answer, "the text", server)
        return refused


@contextmanager
def _session(server: MailServer) -> Iterator[smtplib.SMTP]:
    try:
        session = _connected(server)
    except smtplib.SMTPAuthenticationError as error:
        raise MailRefused(f"{server.place}: the server denied the account {server.username!r} ({error}).") from error
    except smtplib.SMTPNotSupportedError as error:
        raise MailRefused(f"{server.place}: {error} Choose another security or leave the account out.") from error
    except (smtplib.SMTPException, OSError) as error:
        raise MailDelayed(f"{server.place}: {error}. Is the address right and the server up?") from error
    try:
        yield session
    except UnicodeError as error:
        raise MailRefused(f"{server.place}: an address has letters that SMTP cannot carry ({error}).") from error
    except (smtplib.SMTPException, OSError) as error:
        raise MailDelayed(f"{server.place}: {error}") from error
    finally:
        _quit(session)


def _connected(server: MailServer) -> smtplib.SMTP:
    tls = ssl.create_default_context()
    if server.security == "tls":
        session: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=server.timeout_seconds, context=tls)
    else:
        session = smtplib.SMTP(server.host, server.port, timeout=server.timeout_seconds)
    try:
        if server.security == "starttls":
            session.starttls(context=tls)
        session.ehlo_or_helo_if_needed()
        if server.username:
            session.login(server.username, server.password)
    except BaseException:
        session.close()
        raise
    return session


def _quit(session: smtplib.SMTP) -> None:
    try:
        session.quit()
    except (smtplib.SMTPException, OSError):
        session.close()


def _bytes(said: bytes | str) -> bytes:
    return said.encode() if isinstance(said, str) else said


def _expect(answer: tuple[int, bytes], step: str, server: MailServer) -> None:
    code, said = answer
    if code < 400:
        return
    kind = MailRefused if code >= 500 else MailDelayed
    raise kind(f"{server.place} answered {code} to {step}: {said.decode(errors='replace')[:200]}")
