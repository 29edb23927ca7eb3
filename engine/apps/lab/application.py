"""What the lab knows of an application: how it is had, filled and served, and what its visitors do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lab.browser import Browser, Page


class Site(Protocol):
    """An application that serves pages."""

    port: int

    def seconds(self) -> float: ...

    def stop(self) -> None: ...


@dataclass
class Visitors:
    """Somebody who has not logged in, and somebody who has."""

    guest: Browser
    member: Browser
    # What a step leaves for later ones, such as a form's hidden field.
    kept: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Extent:
    """How much there is, and how much of it is visited."""

    # Posts, pages or articles.
    size: int
    # The newest of them are read in each pass.
    popular: int
    # Passes over all pages before the writes of a round, and as many after them.
    passes: int


@dataclass(frozen=True)
class Step:
    name: str
    act: Callable[[Visitors], Page]
    is_write: bool = False


class Application(Protocol):
    name: str
    schema: str
    # What differs between two pages that show the same: fields against forgery, times, numbers of requests.
    varying: Sequence[re.Pattern[str]]

    def prepare(self, folder: Path) -> None:
        """Raises Unavailable if it cannot be had here."""

    def install(self, database: int, extent: Extent) -> None:
        """Makes and fills its schema on the server at this port."""

    def serve(self, database: int, name: str) -> Site: ...

    def log_in(self, visitors: Visitors) -> Page: ...

    def crawl(self, number: int, extent: Extent) -> Iterator[Step]:
        """A round of visits with writes in between. Rounds visit the same pages, and write something else."""


def same(application: Application, page: Page) -> str:
    """The page without what differs between two that show the same."""
    text = f"{page.status}\n{page.text}"
    for pattern in application.varying:
        text = pattern.sub("~", text)
    return text


def seen(name: str, path: str) -> tuple[Step, Step]:
    """The page for either visitor."""
    return (
        Step(f"{name}, guest", lambda visitors: visitors.guest.get(path)),
        Step(f"{name}, member", lambda visitors: visitors.member.get(path)),
    )


def guest(name: str, path: str) -> Step:
    return seen(name, path)[0]


def member(name: str, path: str) -> Step:
    return seen(name, path)[1]
