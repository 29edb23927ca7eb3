"""Whether those who are being told of events still may be. The app that knows them says so: this one does not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable

from rest_framework.request import Request

Holder = Hashable  # by what somebody was let in, and what he might do then
_holder_of: Callable[[Request], Holder]
_still_standing: Callable[[Collection[Holder]], set[Holder]]


def standing_register(
    holder_of: Callable[[Request], Holder], still_standing: Callable[[Collection[Holder]], set[Holder]]
) -> None:
    """For the app of users, when it is ready."""
    global _holder_of, _still_standing
    _holder_of, _still_standing = holder_of, still_standing


def holder_of(request: Request) -> Holder:
    return _holder_of(request)


def still_standing(holders: Collection[Holder]) -> set[Holder]:
    """Those of them that nothing has changed for."""
    return _still_standing(holders)
