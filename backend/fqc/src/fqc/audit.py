"""`fqc audit`: who did what, when and from where, listed or exported to a file."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fqc import command
from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.noun import watched, with_options
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


class Kind(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"


def audit(
    call: Call,
    ctx: typer.Context,
    actor: Annotated[str | None, typer.Option(help="Only by this user.")] = None,
    action: Annotated[str | None, typer.Option(help="Only this action, for example change.approved.")] = None,
    target: Annotated[str | None, typer.Option(help="Only on the object with this ID.")] = None,
    request: Annotated[str | None, typer.Option(help="Only in the request with this ID.")] = None,
    since: Annotated[str | None, typer.Option(help="Start: a duration such as 2d, or a time.")] = None,
    until: Annotated[str | None, typer.Option(help="End: a duration before now, or a time.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Number to show, newest first.")] = 50,
) -> None:
    """Who did what, when, from where."""
    if ctx.invoked_subcommand:
        return
    query = {"actor": actor, "action": action, "target_id": target, "request_id": request}
    query |= {"since": since and moment(since), "until": until and moment(until)}
    call.show_items(call.api.items("audit-events", limit=limit, **query), _LIST)


def export(
    call: Call,
    since: Annotated[str, typer.Option(help="Start: a duration such as 30d, or a time.", show_default=False)],
    until: Annotated[str | None, typer.Option(help="End: a duration before now, or a time; default: now.")] = None,
    kind: Annotated[
        Kind, typer.Option("--format", help="CSV for spreadsheets, or one JSON event per line.")
    ] = Kind.CSV,
    file: Annotated[Path | None, typer.Option(help="Write to this new file, readable only by its owner.")] = None,
) -> None:
    """Export all events of a period, oldest first; for administrators."""
    query = {"since": moment(since), "until": until and moment(until), "format": kind.value}
    pieces = call.api.stream("audit-events/export", **query)
    if file is None:
        sys.stdout.writelines(pieces)
        return
    first = next(pieces)  # a refused request must not create the file
    try:
        descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except OSError as error:
        raise Failure(f"{file} cannot be created: {error.strerror}.", Exit.USAGE) from error
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as out:
        out.write(first)
        out.writelines(pieces)


app = typer.Typer(cls=command.Group, rich_markup_mode=None, add_completion=False)
app.callback(invoke_without_command=True, help=audit.__doc__)(with_options(audit, READ | WATCH, watched))
app.command("export", cls=command.Command)(with_options(export, {name: READ[name] for name in READ if name != "form"}))
