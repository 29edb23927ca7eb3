"""Rate limits: per caller on everything, per address on log-in. Counted in the memory of each web process."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle


class CallerThrottle(SimpleRateThrottle):
    scope = "caller"

    def get_cache_key(self, request: Request, view: Any) -> str:
        who = getattr(request.user, "pk", None) or self.get_ident(request)
        return self.cache_format % {"scope": self.scope, "ident": who}


class LoginThrottle(SimpleRateThrottle):
    scope = "login"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        if request.method != "POST":
            return None
        return self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)}
