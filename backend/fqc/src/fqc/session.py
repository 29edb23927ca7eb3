"""`fqc session`: the user's sessions of the console."""

from __future__ import annotations

from typing import Annotated

import typer

from fqc.asking import confirm
from fqc.call import Call
from fqc.noun import Noun
from fqc.output import Cell, say
from fqc.units import human_time

app = Noun("Your own sessions of the console.")
_LIST: dict[str, Cell] = {
    "ID": "id",
    "LOGGED IN": lambda it: human_time(it["logged_in_at"]),
    "EXPIRES": lambda it: human_time(it["expires_at"]),
    "ADDRESS": "address",
    "BROWSER": "browser",
}


@app.read("list")
def list_(call: Call) -> None:
    """List your own sessions."""
    call.show_items(call.api.items("sessions"), _LIST)


@app.removal("end")
def end(
    call: Call,
    session_id: Annotated[
        str | None, typer.Argument(help="Session ID.", metavar="[SESSION]", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All of your sessions.")] = False,
) -> None:
    """End a session, or all of them: its user has to log in again."""
    if every == bool(session_id):
        raise typer.BadParameter("Give the id of a session, or --all.")
    path = "sessions/others" if every else f"sessions/{session_id}"
    if call.is_dry_run:
        call.would("DELETE", path)
        return
    confirm(
        call, "All of your sessions will end. Continue?" if every else f"The session {session_id} will end. Continue?"
    )
    ended = call.api.replace("DELETE", path)
    if every:
        say(f"Ended: {ended['sessions']}.")
