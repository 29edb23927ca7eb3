"""The texts that the dialect's two signatures are computed over, and the signatures themselves. Pure.

Both decode names and values and encode them again: clients write a space as `+` or `%20`, but always sign the same
form.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from urllib.parse import quote

ACS3 = "ACS3-HMAC-SHA256"


def encoded(text: str) -> str:
    return quote(text, safe="~")


def canonical_query(parameters: Mapping[str, str]) -> str:
    return "&".join(f"{encoded(name)}={encoded(value)}" for name, value in sorted(parameters.items()))


def acs3_text(
    method: str, query: Mapping[str, str], headers: Mapping[str, str], signed: Sequence[str], body: bytes
) -> str:
    """Returns the text that an ACS3-HMAC-SHA256 signature covers; `signed` are the names of the signed headers.

    The path in it is always `/`, since clients sign that for any endpoint.
    """
    lines = "".join(f"{name}:{headers.get(name, '').strip()}\n" for name in signed)
    digest = hashlib.sha256(body).hexdigest()
    request = "\n".join([method, "/", canonical_query(query), lines, ";".join(signed), digest])
    return f"{ACS3}\n{hashlib.sha256(request.encode()).hexdigest()}"


def acs3_signature(text: str, secret: str) -> str:
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


def hmac_sha1_text(method: str, parameters: Mapping[str, str]) -> str:
    signed = {name: value for name, value in parameters.items() if name != "Signature"}
    return f"{method}&%2F&{encoded(canonical_query(signed))}"


def hmac_sha1_signature(text: str, secret: str) -> str:
    return base64.b64encode(hmac.new(f"{secret}&".encode(), text.encode(), hashlib.sha1).digest()).decode()
