"""A client of the dialect for tests. Its signer is independent of the product and follows the specification."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from django.test import Client

VERSION = "2014-08-15"
HOST = "127.0.0.1:8000"


def now(**ago: float) -> str:
    return (datetime.now(UTC) - timedelta(**ago)).strftime("%Y-%m-%dT%H:%M:%SZ")


def acs3_headers(key: tuple[str, str], action: str, arguments: dict[str, str], **other: str) -> dict[str, str]:
    headers = {
        "host": HOST,
        "x-acs-action": action,
        "x-acs-version": VERSION,
        "x-acs-date": now(),
        "x-acs-signature-nonce": uuid.uuid4().hex,
        "x-acs-content-sha256": hashlib.sha256(b"").hexdigest(),
        **other,
    }
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    query = "&".join(f"{quote(k, safe='~')}={quote(v, safe='~')}" for k, v in sorted(arguments.items()))
    text = "\n".join(["POST", "/", query, lines, names, hashlib.sha256(b"").hexdigest()])
    what = "ACS3-HMAC-SHA256\n" + hashlib.sha256(text.encode()).hexdigest()
    signature = hmac.new(key[1].encode(), what.encode(), hashlib.sha256).hexdigest()
    return headers | {
        "authorization": f"ACS3-HMAC-SHA256 Credential={key[0]},SignedHeaders={names},Signature={signature}"
    }


def sha1_arguments(key: tuple[str, str], action: str, method: str = "POST", **arguments: str) -> dict[str, str]:
    whole = {
        "Action": action,
        "Version": VERSION,
        "Format": "JSON",
        "AccessKeyId": key[0],
        "SignatureMethod": "HMAC-SHA1",
        "SignatureVersion": "1.0",
        "SignatureNonce": uuid.uuid4().hex,
        "Timestamp": now(),
        **arguments,
    }
    query = "&".join(f"{quote(k, safe='~')}={quote(v, safe='~')}" for k, v in sorted(whole.items()))
    text = f"{method}&%2F&{quote(query, safe='~')}"
    digest = hmac.new(f"{key[1]}&".encode(), text.encode(), hashlib.sha1).digest()
    return whole | {"Signature": base64.b64encode(digest).decode()}


def send(arguments: dict[str, str], headers: dict[str, str], method: str = "POST") -> tuple[int, dict[str, Any]]:
    answer = Client(enforce_csrf_checks=True).generic(
        method, f"/?{urlencode(arguments)}", headers={"host": HOST, **headers}, content_type="application/octet-stream"
    )
    assert answer.headers["Content-Type"] == "application/json;charset=utf-8", answer.content[:300]
    return answer.status_code, json.loads(answer.content)


class Signer:
    def __init__(self, key: tuple[str, str]) -> None:
        self.key = key

    def call(self, action: str, **arguments: str) -> tuple[int, dict[str, Any]]:
        return send(arguments, acs3_headers(self.key, action, arguments))

    def done(self, action: str, **arguments: str) -> dict[str, Any]:
        status, body = self.call(action, **arguments)
        assert status == 200, body
        return body

    def refused(self, action: str, **arguments: str) -> tuple[int, str]:
        status, body = self.call(action, **arguments)
        assert body.keys() == {"RequestId", "HostId", "Code", "Message", "Recommend"}, body
        return status, body["Code"]
