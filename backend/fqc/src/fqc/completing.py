"""Names that a shell offers for an argument, requested from the API. If that fails, no name is offered and no error
shown.
"""

from __future__ import annotations

from typing import Any

import typer

from fqc.call import Call
from fqc.failure import Failure

_MOST = 100


def instances(ctx: typer.Context, incomplete: str) -> list[str]:
    return _names(ctx, incomplete, "instances", search=incomplete or None)


def templates(ctx: typer.Context, incomplete: str) -> list[str]:
    return _names(ctx, incomplete, "templates")


def classes(ctx: typer.Context, incomplete: str) -> list[str]:
    return _names(ctx, incomplete, "instance-classes")


def _names(ctx: typer.Context, incomplete: str, path: str, **query: Any) -> list[str]:
    """Returns at most 100 names of a list that begin with the typed text. Empty if the API cannot be asked."""
    call = Call(**{each: ctx.params.get(each) for each in ("context", "url", "token")})
    try:
        found = [str(each["name"]) for each in call.api.items(path, limit=_MOST, **query)]
    except Failure:
        return []
    return [name for name in found if name.startswith(incomplete)]
