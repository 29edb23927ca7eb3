"""Parses a request of the dialect: arguments from the query and a form body, action and version from headers or
arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl

from django.http import HttpRequest

from controlplane.rpc.errors import RpcError

VERSION = "2014-08-15"
FORM = "application/x-www-form-urlencoded"
MOST_ARGUMENTS = 500
# Arguments for signing and routing, or without meaning here. They are accepted with every action.
COMMON = frozenset(
    (
        *("Action", "Version", "Format", "AccessKeyId", "Signature", "SignatureMethod", "SignatureVersion"),
        *("SignatureNonce", "SignatureType", "Timestamp", "SecurityToken", "BearerToken", "RegionId"),
        *("ResourceGroupId", "OwnerId", "OwnerAccount", "ResourceOwnerId", "ResourceOwnerAccount"),
    )
)


@dataclass(frozen=True)
class Call:
    method: str
    headers: dict[str, str]  # by lower-case name
    query: dict[str, str]
    arguments: dict[str, str]  # from the query and the form
    body: bytes

    @property
    def action(self) -> str:
        return self.headers.get("x-acs-action") or self.arguments.get("Action", "")

    @property
    def version(self) -> str:
        return self.headers.get("x-acs-version") or self.arguments.get("Version", "")

    @property
    def is_xml(self) -> bool:
        return self.arguments.get("Format", "").upper() == "XML"

    @property
    def own_arguments(self) -> dict[str, str]:
        """The arguments of the action itself, without those for signing and routing that every request has."""
        return {name: value for name, value in self.arguments.items() if name not in COMMON}


def is_rpc(request: HttpRequest) -> bool:
    """Returns whether the request is one of the RPC dialect: it names an action, which a browser's GET of the console
    does not.
    """
    if request.path != "/":
        return False
    return request.method == "POST" or "x-acs-action" in request.headers or "Action" in request.GET


def call_from(request: HttpRequest) -> Call:
    headers = {name.lower(): value for name, value in request.headers.items()}
    query = _pairs(request.META.get("QUERY_STRING", ""))
    is_form = headers.get("content-type", "").split(";")[0].strip().lower() == FORM
    form = _pairs(_text(request.body)) if is_form else {}
    twice = query.keys() & form.keys()
    if twice:
        raise _malformed(f"{min(twice)} is in the query and in the body: send it once.")
    return Call(str(request.method), headers, query, query | form, request.body)


def _text(body: bytes) -> str:
    try:
        return body.decode("ascii")
    except UnicodeDecodeError as error:
        raise _malformed("The body is not URL-encoded.") from error


def _pairs(text: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_ARGUMENTS)
    except ValueError as error:
        raise _malformed(f"The arguments cannot be read: {error}") from error
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _malformed("An argument is given twice: send it once.")
    if any("\0" in name + value for name, value in pairs):
        raise _malformed("An argument holds a NUL character.")
    return found


def _malformed(message: str) -> RpcError:
    return RpcError("InvalidParameter.Malformed", message)
