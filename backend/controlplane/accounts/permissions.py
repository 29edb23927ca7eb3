"""Permissions by role, which views use. The effective role is the lesser of the user's and the token's."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from controlplane.accounts.models import Token, User
from controlplane.accounts.roles import Role, Scope, covers, lesser


def role_in_force(request: Request) -> str | None:
    if not isinstance(request.user, User):
        return None
    if isinstance(request.auth, Token):
        return lesser(request.user.role, request.auth.scope)
    return request.user.role


class _ByRole(BasePermission):
    to_read: ClassVar[Role]
    to_write: ClassVar[Role]

    def has_permission(self, request: Request, view: Any) -> bool:
        role = role_in_force(request)
        wanted = self.to_read if request.method in SAFE_METHODS else self.to_write
        self.message = f"This requires the role {wanted}; your role here is {role}."
        return role is not None and covers(role, wanted)


class ReadViewerWriteOperator(_ByRole):
    to_read, to_write = Role.VIEWER, Role.OPERATOR


class ReadViewerWriteAdmin(_ByRole):
    to_read, to_write = Role.VIEWER, Role.ADMIN


class ReporterOnly(BasePermission):
    """Allows only requests with a reporter's token, which near caches have, whose user still has the role to
    make one.
    """

    message = "This requires a token for near caches (POST /api/v1/instances/{id}/near-caches/tokens) of an operator."

    def has_permission(self, request: Request, view: Any) -> bool:
        token = request.auth
        is_reporter = isinstance(token, Token) and token.scope == Scope.REPORTER
        return is_reporter and covers(request.user.role, Role.OPERATOR)


class ViewerOnly(_ByRole):
    """Allows every role, whatever the method. For requests that change nothing in the fleet: previews, evaluations,
    one's own session and tokens.
    """

    to_read = to_write = Role.VIEWER


class AdminOnly(_ByRole):
    to_read = to_write = Role.ADMIN
