"""Whether those who are being told of events still may be. The app that knows them says so: this one does not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import TYPE_CHECKING, Any

from controlplane.core.hooks import Hook

if TYPE_CHECKING:
    from rest_framework.request import Request

Holder = Hashable  # by what somebody was let in, and what he might do then
HOLDER_OF: Hook[Callable[[Request], Holder]] = Hook("core.standing.HOLDER_OF")
STILL_STANDING: Hook[Callable[[Collection[Any]], set[Any]]] = Hook("core.standing.STILL_STANDING")


def holder_of(request: Request) -> Holder:
    return HOLDER_OF.part(request)


def still_standing(holders: Collection[Holder]) -> set[Holder]:
    """Those of them that nothing has changed for."""
    return STILL_STANDING.part(holders)
