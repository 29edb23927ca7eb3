"""Whether readers of events are still allowed to get them. The accounts app implements this through the hooks below."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import TYPE_CHECKING, Any

from controlplane.core.hooks import Hook

if TYPE_CHECKING:
    from rest_framework.request import Request

Holder = Hashable  # the credential that an event stream was opened with, and the role that it gave
HOLDER_OF: Hook[Callable[[Request], Holder]] = Hook("core.stream_credentials.HOLDER_OF")
STILL_VALID: Hook[Callable[[Collection[Any]], set[Any]]] = Hook("core.stream_credentials.STILL_VALID")


def holder_of(request: Request) -> Holder:
    return HOLDER_OF.part(request)


def still_valid(holders: Collection[Holder]) -> set[Holder]:
    """Returns those of the holders, that is, the credentials of event streams, whose access has neither ended nor
    changed.

    The streams of the others must end.
    """
    return STILL_VALID.part(holders)
