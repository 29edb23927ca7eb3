"""Authenticates the caller of the RPC endpoint by one of three kinds of signature or token.

Cookies are ignored, so that pages of other sites cannot call for a user.
"""

from __future__ import annotations

import hmac
import re

from controlplane.accounts.access_key_selectors import access_key_find
from controlplane.accounts.access_key_services import access_key_touch
from controlplane.accounts.models import AccessKey, User
from controlplane.accounts.roles import lesser
from controlplane.accounts.selectors import token_find
from controlplane.accounts.services import token_touch
from controlplane.core.request_context import caller_is
from controlplane.rpc.call import Call
from controlplane.rpc.errors import RpcError
from controlplane.rpc.freshness import check_fresh
from controlplane.rpc.signatures import ACS3, acs3_signature, acs3_text, hmac_sha1_signature, hmac_sha1_text

AUTHORIZATION = re.compile(rf"{ACS3} Credential=([^,\s]+), ?SignedHeaders=([^,\s]+), ?Signature=([0-9a-f]{{64}})")
# The headers that are used must be covered by the signature, or an attacker on the network could replace them.
MUST_BE_SIGNED = {"host", "x-acs-action", "x-acs-version", "x-acs-date", "x-acs-signature-nonce"}
BEARER = "BEARERTOKEN"


def authenticate(call: Call) -> tuple[User, str]:
    """Returns the caller of the RPC endpoint, and the effective role: the lesser of the user's and that of the key or
    token.

    Raises RpcError if the request is not signed, or wrongly.
    """
    if call.headers.get("x-acs-security-token") or call.arguments.get("SecurityToken"):
        raise RpcError("InvalidSecurityToken.NotSupported", "There are no temporary credentials here: use access keys.")
    if call.arguments.get("SignatureType") == BEARER or "x-acs-bearer-token" in call.headers:
        return _by_token(call)
    if "authorization" in call.headers:
        return _by_headers(call)
    if "Signature" in call.arguments:
        return _by_arguments(call)
    raise RpcError("MissingAccessKeyId", "The request is not signed: sign it with an access key or bring a token.", 401)


def _by_token(call: Call) -> tuple[User, str]:
    token = token_find(call.headers.get("x-acs-bearer-token") or call.arguments.get("BearerToken", ""))
    if token is None:
        raise RpcError("InvalidBearerToken", "The token is unknown, expired or revoked: create a new one.", 401)
    token_touch(token)
    role = lesser(token.user.role, token.scope)
    caller_is(token.user.username, token.user.pk, role, token.prefix, f"{token.pk} {role}")
    return token.user, role


def _by_headers(call: Call) -> tuple[User, str]:
    shape = AUTHORIZATION.fullmatch(call.headers["authorization"].strip())
    if shape is None:
        raise _incomplete(f"Authorization is not of the form {ACS3} Credential=...,SignedHeaders=...,Signature=...")
    key_id, signed, signature = shape[1], shape[2].lower().split(";"), shape[3]
    bare = MUST_BE_SIGNED - set(signed)
    if bare:
        raise _incomplete(f"{min(bare)} is not among SignedHeaders.")
    key = _key(key_id)
    text = acs3_text(call.method, call.query, call.headers, signed, call.body)
    _compare(acs3_signature(text, key.secret), signature, text)
    return _accepted(key, call.headers.get("x-acs-date", ""), call.headers.get("x-acs-signature-nonce", ""))


def _by_arguments(call: Call) -> tuple[User, str]:
    if call.arguments.get("SignatureMethod", "HMAC-SHA1").upper() != "HMAC-SHA1":
        raise RpcError("InvalidSignatureMethod", "Sign arguments with HMAC-SHA1, or headers with ACS3-HMAC-SHA256.")
    if {"Action", "Version"} - call.arguments.keys():
        raise _incomplete("Action and Version must be among the signed arguments.")
    _refuse_two_minds(call)
    key = _key(call.arguments.get("AccessKeyId", ""))
    text = hmac_sha1_text(call.method, call.arguments)
    _compare(hmac_sha1_signature(text, key.secret), call.arguments["Signature"], text)
    return _accepted(key, call.arguments.get("Timestamp", ""), call.arguments.get("SignatureNonce", ""))


def _refuse_two_minds(call: Call) -> None:
    """Raises RpcError if headers name another action or version than the arguments, since only the arguments are
    signed.
    """
    if (call.action, call.version) != (call.arguments["Action"], call.arguments["Version"]):
        raise _incomplete("The headers name another action or version than the signed arguments.")


def _key(key_id: str) -> AccessKey:
    key = access_key_find(key_id)
    if key is None:
        raise RpcError("InvalidAccessKeyId.NotFound", "There is no such access key: list yours in the console.", 404)
    if not key.is_active or not key.user.has_access:
        raise RpcError("InvalidAccessKeyId.Inactive", f"Access key {key.pk} is disabled, or its owner may not log in.")
    return key


def _compare(wanted: str, given: str, text: str) -> None:
    if not hmac.compare_digest(wanted.encode(), given.encode()):
        raise RpcError(
            "SignatureDoesNotMatch",
            f"The signature is not the one of this request and secret. server string to sign is:{text}",
        )


def _accepted(key: AccessKey, date: str, nonce: str) -> tuple[User, str]:
    check_fresh(key.pk, date, nonce)
    access_key_touch(key)
    role = lesser(key.user.role, key.scope)
    caller_is(key.user.username, key.user.pk, role, key.pk, f"{key.pk} {role}")
    return key.user, role


def _incomplete(message: str) -> RpcError:
    return RpcError("IncompleteSignature", message)
