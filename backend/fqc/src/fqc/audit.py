"""`fqc audit`: who did what, when, from where."""

from __future__ import annotations

from typing import Annotated

import typer

from fqc.call import Call
from fqc.noun import single, watched
from fqc.options import READ, WATCH
from fqc.output import Cell
from fqc.units import human_time, moment

_LIST: dict[str, Cell] = {
    "AT": lambda it: human_time(it["created_at"]),
    "WHO": "actor",
    "DID": "action",
    "ON": lambda it: it["target_name"] or it["target_id"],
    "FROM": "address",
    "REQUEST": "request_id",
}


def audit(
    call: Call,
    actor: Annotated[str | None, typer.Option(help="By this person.")] = None,
    action: Annotated[str | None, typer.Option(help="This, such as change.approved.")] = None,
    target: Annotated[str | None, typer.Option(help="On what has this id.")] = None,
    request: Annotated[str | None, typer.Option(help="In this request, by its id.")] = None,
    since: Annotated[str | None, typer.Option(help="A span such as 2d, or a time.")] = None,
    until: Annotated[str | None, typer.Option(help="A span before now, or a time.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, newest first.")] = 50,
) -> None:
    """Who did what, when, from where."""
    query = {"actor": actor, "action": action, "target_id": target, "request_id": request}
    query |= {"since": since and moment(since), "until": until and moment(until)}
    call.show_items(call.api.items("audit-events", limit=limit, **query), _LIST)


app = single("audit", audit, READ | WATCH, watched)
