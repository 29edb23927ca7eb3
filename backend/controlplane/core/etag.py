"""Optimistic concurrency: reading returns an `ETag`, writing requires `If-Match` (428 without, 412 if stale).

A view reads the header; the service compares it with the locked row (`row_held`). A comparison before the lock would
accept several writers that read the same version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import models

from controlplane.core.errors import NotFound, PreconditionFailed, PreconditionRequired

if TYPE_CHECKING:
    from rest_framework.request import Request

Row = TypeVar("Row", bound=models.Model)


@dataclass(frozen=True)
class IfMatch:
    """The ETags of the versions that the caller may overwrite; `*` stands for any version."""

    tags: frozenset[str]

    def check(self, version: int) -> None:
        if "*" not in self.tags and etag_of(version) not in self.tags:
            now = etag_of(version)
            raise PreconditionFailed(f"The resource is now at {now}: read it again and repeat your change.")


ANY_VERSION = IfMatch(frozenset("*"))


def etag_of(version: int) -> str:
    return f'"{version}"'


def if_match(request: Request) -> IfMatch:
    wanted = request.headers.get("If-Match", "").strip()
    if not wanted:
        raise PreconditionRequired("Read the resource and send its ETag as If-Match, or If-Match: * to overwrite.")
    return IfMatch(frozenset(part.strip().removeprefix("W/") for part in wanted.split(",")))


def if_match_given(request: Request) -> IfMatch:
    """Returns the If-Match of a request that plans on what was read.

    The header is optional there: without it, any version will do.
    """
    return if_match(request) if request.headers.get("If-Match") else ANY_VERSION


def row_held(row: Row, expected: IfMatch | None = None) -> Row:
    """Reads the row again and returns it with a lock that lasts until the caller's transaction ends; `row` is not
    changed.

    Raises NotFound if it was deleted, and PreconditionFailed if its version is not among the expected ones (None: any
    is).
    """
    model: Any = row._meta.model  # type(row) is wrong for a request's user, which is a lazy stand-in
    now: Row | None = model._default_manager.select_for_update().filter(pk=row.pk).first()
    if now is None:
        raise NotFound(f"{row.pk} has been deleted in the meantime.")
    if expected is not None:
        expected.check(now.version)
    return now
