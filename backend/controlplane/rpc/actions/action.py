"""An action of the RPC dialect: the function, the required role, and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rest_framework.serializers import BaseSerializer

from controlplane.accounts.roles import Role
from controlplane.rpc.arguments import Argument

Given = dict[str, Any]  # argument to value; None if it was not given
Answer = dict[str, Any]
Handler = Callable[[Given], Answer]


@dataclass(frozen=True)
class Action:
    handle: Handler
    role: Role
    arguments: dict[str, Argument]

    @property
    def is_write(self) -> bool:
        return self.role != Role.VIEWER


def reads(handle: Handler, *arguments: Argument) -> Action:
    return Action(handle, Role.VIEWER, {each.name: each for each in arguments})


def writes(handle: Handler, *arguments: Argument) -> Action:
    return Action(handle, Role.OPERATOR, {each.name: each for each in arguments})


def checked(serializer: type[BaseSerializer[Any]], **facts: Any) -> dict[str, Any]:
    """Validates facts with a serializer of the REST API and returns the result.

    Facts that are None are left out. Raises ValidationError.
    """
    given = serializer(data={name: value for name, value in facts.items() if value is not None})
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


def utc(at: Any) -> str:
    """Formats a UTC time as the dialect does, such as 2026-11-20T23:50:00Z; empty for None."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else ""
