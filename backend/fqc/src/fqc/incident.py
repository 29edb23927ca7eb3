"""`fqc alert incident`: the incidents that alert rules opened."""

from __future__ import annotations

from typing import Annotated

import typer

from fqc.call import Call
from fqc.noun import Noun
from fqc.output import Cell, facts, stacked, table
from fqc.units import human_time

app = Noun("Incidents: what alert rules found.")
Id = Annotated[str, typer.Argument(help="The incident's ID.", metavar="INCIDENT", show_default=False)]
_LIST: dict[str, Cell] = {
    "ID": "id",
    "STATE": "state",
    "SEVERITY": "severity",
    "RULE": "rule_name",
    "INSTANCE": "instance_name",
    "OPENED": lambda it: human_time(it["opened_at"]),
    "RESOLVED": lambda it: human_time(it["resolved_at"]),
    "VALUE": "last_value",
    "SEEN BY": "acknowledged_by",
}
_TIMELINE: dict[str, Cell] = {
    "AT": lambda it: human_time(it["at"]),
    "WHAT": "kind",
    "VALUE": "value",
    "DETAIL": "detail",
}


@app.watch("list")
def list_(
    call: Call,
    is_open: Annotated[bool | None, typer.Option("--open/--resolved", help="Only those in this state.")] = None,
    instance: Annotated[str | None, typer.Option(help="Only of this instance.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Number to show, newest first.")] = 50,
) -> None:
    """List incidents, newest first."""
    found = instance and call.api.get(f"instances/{instance}")["id"]
    call.show_items(call.api.items("incidents", limit=limit, is_open=is_open, instance=found), _LIST)


@app.watch("show")
def show(call: Call, incident: Id) -> None:
    """Show one incident and its history."""
    _show(call, call.api.get(f"incidents/{incident}"))


@app.write("acknowledge")
def acknowledge(call: Call, incident: Id) -> None:
    """Acknowledge an incident; it sends no more reminders."""
    if call.is_dry_run:
        call.would("POST", f"incidents/{incident}/acknowledge")
    else:
        _show(call, call.api.post(f"incidents/{incident}/acknowledge"))


def _show(call: Call, found: dict[str, object]) -> None:
    call.show(found, lambda it: stacked(facts(_LIST, it), "", table(_TIMELINE, it["timeline"])))
