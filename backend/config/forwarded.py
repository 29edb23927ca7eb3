"""Reads the headers that proxies add. They are believed as far as trusted proxies wrote them, and removed otherwise.

The last `trusted` hops before this process are the operator's own proxies: the peer, and all but the first of that many
entries at the right of X-Forwarded-For. The first of those entries is the caller's address; entries further left are
ignored, since anybody could write them. Afterwards the headers are removed, so that no later code trusts them by
mistake.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

Scope = dict[str, Any]
Application = Callable[[Scope, Any, Any], Awaitable[None]]
SCHEMES = {"http", "https"}


class Forwarded:
    def __init__(self, application: Application, trusted: int) -> None:
        self.application, self.trusted = application, trusted

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        await self.application(told(scope, self.trusted) if "headers" in scope else scope, receive, send)


def told(scope: Scope, trusted: int) -> Scope:
    headers = list(scope["headers"])
    heard = {**scope, "headers": [(name, value) for name, value in headers if not _is_of_proxies(name)]}
    if not trusted:
        return heard
    addresses, schemes = _values(headers, b"x-forwarded-for"), _values(headers, b"x-forwarded-proto")
    if len(addresses) >= trusted and (address := _address(addresses[-trusted])):
        heard["client"] = (address, 0)
    # A proxy appends the address, but most proxies replace the scheme.
    if schemes and (scheme := schemes[-min(trusted, len(schemes))].lower()) in SCHEMES:
        heard["scheme"] = scheme
    return heard


def _is_of_proxies(name: bytes) -> bool:
    return name.startswith(b"x-forwarded-") or name in {b"forwarded", b"x-real-ip"}


def _values(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> list[str]:
    text = ",".join(value.decode("latin-1") for name, value in headers if name == wanted)
    return [part.strip() for part in text.split(",") if part.strip()]


def _address(text: str) -> str:
    """Returns an IP address without the port that some proxies add; empty if the text is not an address."""
    host = text[1:].partition("]")[0] if text.startswith("[") else text
    host = host.partition(":")[0] if host.count(":") == 1 else host
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return ""
