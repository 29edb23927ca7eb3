"""The interface of an application in the lab: fetch, fill and serve it, and a crawl of its pages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from driver.product import Product
from lab.browser import Browser, Page


class Site(Protocol):
    """A running application that serves pages at `port`. `seconds` is the processor time that it has used."""

    port: int

    def seconds(self) -> float: ...

    def stop(self) -> None: ...


@dataclass
class Visitors:
    """The clients of one site: a guest, and a member whom `Application.log_in` logs in."""

    guest: Browser
    member: Browser
    # Values that a step stores for later steps, such as the number of a post.
    kept: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Extent:
    """The size of an application's data, and of a round of visits to it."""

    # The number of posts, pages or articles.
    size: int
    # The number of the newest of them that each pass reads.
    popular: int
    # The number of passes over all pages before the writes of a round; as many follow after them.
    passes: int


@dataclass(frozen=True)
class Step:
    name: str
    act: Callable[[Visitors], Page]
    is_write: bool = False
    # The application lists things of the same second in any order, so only what the page contains is compared.
    is_in_any_order: bool = False


class Application(Protocol):
    name: str
    schema: str
    # Products of servers that the application supports. The lab takes the first one unless it is asked for another.
    products: Sequence[Product]
    # Parts of a page that differ at every visit: CSRF tokens, times, request ids. They are removed before a comparison.
    varying: Sequence[re.Pattern[str]]

    def prepare(self, folder: Path, product: Product) -> None:
        """Fetches the application for servers of this product. Must be called first. Raises Unavailable if this
        machine cannot do that."""

    def install(self, database: int, extent: Extent) -> None:
        """Creates and fills the application's schema on the server at this port. The schema exists and is empty."""

    def serve(self, database: int, name: str, environment: Mapping[str, str]) -> Site:
        """Starts the application with the database at this port, and returns when it serves. `name` names its folder.
        `environment` is added to that of its processes."""

    def log_in(self, visitors: Visitors) -> Page: ...

    def crawl(self, number: int, extent: Extent) -> Iterator[Step]:
        """Yields the steps of one round of visits with writes in between. All rounds visit the same pages; each one
        writes other texts."""


def same(application: Application, page: Page) -> str:
    """Returns status and text of the page without the parts that differ at every visit, to be compared."""
    text = f"{page.status}\n{_sorted(page.text)}"
    for pattern in application.varying:
        text = pattern.sub("~", text)
    return text


def _sorted(text: str) -> str:
    """Returns JSON with its keys in order, since the order of an object's keys has no meaning; any other text
    unchanged."""
    try:
        return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    except ValueError:
        return text


def guest(name: str, path: str) -> Step:
    return Step(f"{name}, guest", lambda visitors: visitors.guest.get(path))


def member(name: str, path: str, is_in_any_order: bool = False) -> Step:
    return Step(f"{name}, member", lambda visitors: visitors.member.get(path), is_in_any_order=is_in_any_order)
