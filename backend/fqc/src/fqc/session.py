"""`fqc session`: where one is logged in at the console."""

from __future__ import annotations

from typing import Annotated

import typer

from fqc.asking import confirm
from fqc.call import Call
from fqc.noun import Noun
from fqc.output import Cell
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
    call: Call, session_id: Annotated[str, typer.Argument(help="Its id.", metavar="SESSION", show_default=False)]
) -> None:
    """End a session: whoever uses it has to log in again."""
    if call.is_dry_run:
        call.would("DELETE", f"sessions/{session_id}")
        return
    confirm(call, f"The session {session_id} will end. Continue?")
    call.api.replace("DELETE", f"sessions/{session_id}")
