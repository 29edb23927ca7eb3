"""Authentication by a bearer token (API, CLI, Terraform) or by the console's session with its CSRF token."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from controlplane.accounts import selectors, services
from controlplane.accounts.models import Token, User
from controlplane.accounts.roles import Scope, lesser
from controlplane.core.request_context import caller_is


class BearerAuthentication(BaseAuthentication):
    takes_reporters = False

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != b"bearer":
            return None
        token = selectors.token_find(words[1].decode("latin-1")) if len(words) == 2 else None
        if token is None or (token.scope == Scope.REPORTER and not self.takes_reporters):
            raise AuthenticationFailed("The token is unknown, expired or revoked: create a new one.")
        services.token_touch(token)
        role = lesser(token.user.role, token.scope)
        caller_is(token.user.username, token.user.pk, role, token.prefix, f"{token.pk} {role}")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class ReporterAuthentication(BearerAuthentication):
    """Authenticates near caches, which post reports with a reporter's token; other authentication refuses
    such tokens.
    """

    takes_reporters = True


class ConsoleSessionAuthentication(SessionAuthentication):
    def authenticate(self, request: Request) -> tuple[User, None] | None:
        found: Any = super().authenticate(request)
        if found is None or not _stands(found[0], request._request.session.session_key):
            return None
        session = selectors.secret_hash(request._request.session.session_key or "")
        caller_is(found[0].username, found[0].pk, found[0].role, authority=f"{session[:32]} {found[0].role}")
        return found


def _stands(user: User, session_key: str | None) -> bool:
    """Returns whether the user may still log in the way that this session was started: by password or the provider."""
    if user.is_local:
        return services.may_use_password(user.username)
    return selectors.valid_sessions().filter(session_key=session_key).exists()


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = BearerAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class ReporterScheme(BearerScheme):  # type: ignore[no-untyped-call]
    target_class = ReporterAuthentication
    name = "reporter"


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = ConsoleSessionAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
