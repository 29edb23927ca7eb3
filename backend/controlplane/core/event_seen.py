"""Keeps track of the events that a reader has seen, independent of the order in which they were committed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from controlplane.core.models import Event

AT_ONCE = 500
LATE = 50  # how far below the newest id a late event may have its id
WRITTEN = re.compile(rf"[0-9]{{1,18}}(\.[0-9]{{1,2}}){{0,{LATE}}}")


@dataclass
class Seen:
    """The events that a reader has seen: all up to `newest` except `missing`, which may not be committed yet or never
    exist.

    A transaction that began early may commit late; its event has a lower id than events that were sent before it. So a
    reader that reconnects must report which ids it has not seen. Otherwise such an event would be lost, or others sent
    twice.
    """

    newest: int
    missing: set[int] = field(default_factory=set)

    @classmethod
    def read(cls, text: str) -> Seen | None:
        if not WRITTEN.fullmatch(text):
            return None
        newest, *below = map(int, text.split("."))
        return cls(newest, {newest - each for each in below})

    def __str__(self) -> str:
        return ".".join(map(str, [self.newest, *sorted(self.newest - each for each in self.missing)]))

    def __contains__(self, number: int) -> bool:
        return number <= self.newest and number not in self.missing

    def add(self, number: int) -> None:
        self.missing.discard(number)
        self.missing |= set(range(max(self.newest + 1, number - LATE), number))
        self.newest = max(self.newest, number)
        self.missing = {each for each in self.missing if each >= self.newest - LATE}


def up_to_now() -> Seen:
    seen = Seen(0)
    for number in reversed(Event.objects.order_by("-id").values_list("id", flat=True)[: LATE + 1]):
        seen.add(number)
    return seen


def unseen(seen: Seen) -> list[Event]:
    """Returns the next events that are not in `seen`, oldest first.

    Their number is limited: add them to `seen`, then call it again.
    """
    found = Event.objects.filter(id__gt=seen.newest - LATE - 1).order_by("id")[: LATE + AT_ONCE]
    return [event for event in found if event.pk not in seen]
