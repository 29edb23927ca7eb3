"""Optimistic concurrency: `ETag` on what is read, `If-Match` demanded by what writes (428 without, 412 when stale)."""

from __future__ import annotations

from rest_framework.request import Request

from controlplane.core.errors import PreconditionFailed, PreconditionRequired


def etag_of(version: int) -> str:
    return f'"{version}"'


def check_if_match_given(request: Request, version: int) -> None:
    """For requests that plan on what was read: the header is welcome, not demanded."""
    if request.headers.get("If-Match"):
        check_if_match(request, version)


def check_if_match(request: Request, version: int) -> None:
    wanted = request.headers.get("If-Match", "").strip()
    if not wanted:
        raise PreconditionRequired("Read the resource and send its ETag as If-Match, or If-Match: * to overwrite.")
    candidates = {part.strip().removeprefix("W/") for part in wanted.split(",")}
    if "*" not in candidates and etag_of(version) not in candidates:
        raise PreconditionFailed(f"The resource is now at {etag_of(version)}: read it again and repeat your change.")
