"""Hands one message to an HTTP receiver, within a time limit.

It connects to a checked address: a public one over HTTPS, or one in a network that an administrator allowed. Redirects
are not followed, proxies are not used, certificates are verified, and the length of the answer is limited. A message
whose address or body is secret is only sent over TLS, except to this machine itself.

There are two kinds of failure: refused for good, or not accepted now. A message that may have arrived is sent again
under the same name, by which receivers recognise that they have it already.
"""

from __future__ import annotations

import http.client
import ipaddress
import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from controlplane.gateway.dial import dial, ended_by
from controlplane.gateway.endpoint import is_allowed, resolve
from controlplane.gateway.errors import GatewayError, PasswordWithheld, RefusedEndpoint, Unreachable
from controlplane.gateway.numbers import whole
from controlplane.gateway.public import is_public

TIMEOUT_SECONDS = 10.0  # for everything, including the lookup of the receiver's name
MOST_REPLY_BYTES = 4096
MOST_QUOTED = 200
LONGEST_RETRY_SECONDS = 3600
TRY_AGAIN = {408, 425, 429}
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Receiver:
    url: str
    networks: tuple[str, ...] = ()  # networks that it may be in, in addition to public addresses over HTTPS
    is_secret: bool = False  # the message or its address must not be readable on the network
    timeout_seconds: float = TIMEOUT_SECONDS

    @property
    def parts(self) -> SplitResult:
        return urlsplit(self.url)

    @property
    def host(self) -> str:
        return self.parts.hostname or ""

    @property
    def port(self) -> int:
        return self.parts.port or PORTS[self.parts.scheme]

    @property
    def place(self) -> str:
        """The receiver's scheme, host and port, for messages to users.

        The path is left out, since it may be a secret.
        """
        return f"{self.parts.scheme}://{self.parts.netloc}"


class ReceiverRefused(GatewayError):
    code, title, is_permanent = "receiver_refused", "The receiver refused the message", True


class ReceiverDelayed(GatewayError):
    status, code, title = 503, "receiver_delayed", "The receiver did not accept the message"
    again_after_seconds = 0  # the wait that the receiver asked for (Retry-After); 0: it did not say


class ReceiverForbidden(ReceiverDelayed):
    """The receiver's address is not in an allowed network.

    Messages wait and are tried again, since an administrator may allow its network.
    """

    status, code, title = RefusedEndpoint.status, RefusedEndpoint.code, "The receiver is outside the allowed networks"


class ReceiverInClear(ReceiverDelayed):
    status, code, title = PasswordWithheld.status, PasswordWithheld.code, "The secret was not sent"


def post(receiver: Receiver, body: bytes, headers: Mapping[str, str]) -> None:
    """Sends `body` in one POST request and returns once the receiver has answered 2xx.

    Raises ReceiverRefused: do not send it again; ReceiverDelayed: send it again, after `again_after_seconds` at the
    earliest (0: the receiver named no time).
    """
    until = time.monotonic() + receiver.timeout_seconds
    addresses = receiver_addresses(receiver)
    try:
        with dial(addresses, receiver.port, until) as sock, ended_by(until, sock):
            if receiver.parts.scheme == "https":
                sock = ssl.create_default_context().wrap_socket(sock, server_hostname=receiver.host)
            with sock:
                connection = http.client.HTTPConnection(receiver.host, receiver.port)
                connection.sock = sock
                connection.request("POST", _target(receiver.parts), body, {**headers, "Connection": "close"})
                _judge(connection.getresponse(), receiver)
    except (http.client.HTTPException, OSError) as error:
        why = f"not done within {receiver.timeout_seconds:g} s" if time.monotonic() >= until else error
        raise ReceiverDelayed(f"{receiver.place}: {why or type(error).__name__}. Check the address.") from error


def receiver_addresses(receiver: Receiver) -> list[str]:
    """Returns the receiver's addresses to connect to.

    Raises ReceiverForbidden if one is neither allowed nor public over HTTPS, ReceiverDelayed if the name does not
    resolve, and ReceiverInClear if a secret would leave this machine without TLS.
    """
    try:
        addresses = resolve(receiver.host, receiver.timeout_seconds)
    except Unreachable as error:
        raise ReceiverDelayed(error.detail) from error
    is_https = receiver.parts.scheme == "https"
    for address in addresses:
        if not (is_allowed(address, receiver.networks) or (is_https and is_public(address))):
            raise ReceiverForbidden(_outside(receiver, address))
    if receiver.is_secret and not is_https and not _are_this_machine(addresses):
        raise ReceiverInClear(f"{receiver.place}: a secret is not sent without TLS. Use an https address.")
    return addresses


def _outside(receiver: Receiver, address: str) -> str:
    place = receiver.host if receiver.host == address else f"{receiver.host} is {address}, which"
    if is_public(address):
        return f"{place} is reached over https alone, unless an administrator allows its network in the settings."
    return f"{place} is outside the allowed networks: an administrator can add its network in the settings."


def _are_this_machine(addresses: Iterable[str]) -> bool:
    return all(ipaddress.ip_address(address.split("%")[0]).is_loopback for address in addresses)


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _begin_of_body(answer: http.client.HTTPResponse) -> bytes:
    """Returns the beginning of the answer's body.

    Only the first part of a chunked body is read, because to http.client a chunk of negative length has no end.
    """
    if not answer.chunked:
        return answer.read(MOST_REPLY_BYTES)
    return answer.fp.read1(MOST_REPLY_BYTES).partition(b"\r\n")[2]


def _judge(answer: http.client.HTTPResponse, receiver: Receiver) -> None:
    if 200 <= answer.status < 300:
        return
    said = " ".join(_begin_of_body(answer).decode(errors="replace").split())[:MOST_QUOTED]
    detail = f"{receiver.place} answered {answer.status}" + (f": {said}" if said else "")
    if answer.status < 500 and answer.status not in TRY_AGAIN:
        raise ReceiverRefused(f"{detail}. Check the address and the secret.")
    delayed = ReceiverDelayed(detail)
    wait = answer.headers.get("Retry-After", "")
    delayed.again_after_seconds = min(whole(wait) or 0, LONGEST_RETRY_SECONDS)
    raise delayed
