"""Rate limits: per caller on everything, per address on log-in; shared by all web processes."""

from __future__ import annotations

import time
from typing import Any

from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle

from controlplane.core.addresses import counted_as
from controlplane.core.rate_counts import RATE_COUNTS, WINDOW_SECONDS
from controlplane.core.request_context import caller


class SharedThrottle(BaseThrottle):
    """Limits calls per minute over all web processes.

    `rate` is `<number>/min`, from the settings for `scope`. A subclass sets the scope and, with `ident`, whose calls
    are counted together.
    """

    scope = ""

    def __init__(self) -> None:
        self.rate: str = getattr(self, "rate", None) or api_settings.DEFAULT_THROTTLE_RATES[self.scope]

    def ident(self, request: Request) -> str | None:
        raise NotImplementedError

    def allow_request(self, request: Request, view: Any) -> bool:
        who = self.ident(request)
        limit = int(self.rate.removesuffix("/min"))
        return who is None or RATE_COUNTS.is_within(f"{self.scope} {who}"[:128], limit, time.time())

    def wait(self) -> float:
        return WINDOW_SECONDS - time.time() % WINDOW_SECONDS + 1


class CallerThrottle(SharedThrottle):
    scope = "caller"

    def ident(self, request: Request) -> str:
        return getattr(request.user, "pk", None) or counted_as(caller().address)


class LoginThrottle(SharedThrottle):
    scope = "login"

    def ident(self, request: Request) -> str | None:
        return counted_as(caller().address) if request.method == "POST" else None


class ProviderLogoutThrottle(SharedThrottle):
    scope = "provider_logout"

    def ident(self, request: Any) -> str:
        return counted_as(caller().address)
