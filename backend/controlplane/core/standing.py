"""Whether those who are being told of events still may be. The app that knows them says so: this one does not."""

from __future__ import annotations

from collections.abc import Collection, Hashable

from rest_framework.request import Request

from controlplane.core.hooks import hooks

Holder = Hashable  # by what somebody was let in, and what he might do then


def holder_of(request: Request) -> Holder:
    holder: Holder = hooks("standing")["holder_of"](request)
    return holder


def still_standing(holders: Collection[Holder]) -> set[Holder]:
    """Those of them that nothing has changed for."""
    standing: set[Holder] = hooks("standing")["still_standing"](holders)
    return standing
