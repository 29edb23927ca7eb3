"""`fqc param`: the configured parameters of an instance, the values that its server runs, and changes of them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fqc import change_flow
from fqc.call import Call
from fqc.change import roll_back
from fqc.failure import Exit, Failure
from fqc.instance import Name
from fqc.noun import Noun
from fqc.output import Cell
from fqc.units import human_time, pairs

app = Noun("Parameters of an instance.")
AllowRestart = Annotated[bool, typer.Option("--allow-restart", help="Restart the server if a parameter needs it.")]

_LIST: dict[str, Cell] = {
    "PARAMETER": "name",
    "CONFIGURED": "configured",
    "RUNNING": "running",
    "STATE": lambda it: "pending restart" if it["is_pending_restart"] else "drifted" if it["is_drifted"] else None,
    "RESTART": "needs_restart",
    "DEFAULT": "default",
    "UNIT": "unit",
}
_FACTS: dict[str, Cell] = {
    "Parameter": "name",
    "Description": "description",
    "Configured": "configured",
    "Comes to": "resolved",
    "Running": "running",
    "Default": "default",
    "Allowed": "allowed",
    "Multiple of": "divisor",
    "Unit": "unit",
    "Set by": "access",
    "Reason": "access_reason",
    "Needs a restart": "needs_restart",
    "Pending restart": "is_pending_restart",
    "Drifted": "is_drifted",
}
_HISTORY: dict[str, Cell] = {
    "AT": lambda it: human_time(it["at"]),
    "PARAMETER": "name",
    "OLD": lambda it: it["old_submitted"] or it["old_value"],
    "NEW": lambda it: it["new_submitted"] or it["new_value"],
    "STATE": "state",
    "BY": "actor",
    "CHANGE": "change",
}


def _parameters(call: Call, instance: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call.api.get(f"instances/{instance}/parameters")["items"]
    return found


@app.watch("list")
def list_(
    call: Call,
    instance: Name,
    search: Annotated[str, typer.Option(help="Part of the name.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Include those never configured.")] = False,
) -> None:
    """List configured and running values, and where they differ."""
    found = [each for each in _parameters(call, instance) if search in each["name"]]
    call.show_items([each for each in found if every or search or each["configured"] is not None], _LIST)


@app.watch("get")
def get(
    call: Call, instance: Name, name: Annotated[str, typer.Argument(metavar="PARAMETER", show_default=False)]
) -> None:
    """Show one parameter."""
    found = next((each for each in _parameters(call, instance) if each["name"] == name), None)
    if found is None:
        raise Failure(f"{instance} has no parameter {name}.", Exit.NOT_FOUND, hint=f"fqc param list {instance} --all")
    call.show_facts(found, _FACTS)


@app.change("set")
def set_(
    call: Call,
    instance: Name,
    values: Annotated[list[str], typer.Argument(metavar="NAME=VALUE...", show_default=False)],
    allow_restart: AllowRestart = False,
) -> None:
    """Set parameters in one change set.

    A value may be an expression in braces: 'table_open_cache={DBInstanceClassMemory/262144}'.
    """
    _change(call, instance, dict(pairs(values)), allow_restart)


@app.change("reset")
def reset(
    call: Call,
    instance: Name,
    names: Annotated[list[str], typer.Argument(metavar="PARAMETER...", show_default=False)],
    allow_restart: AllowRestart = False,
) -> None:
    """Reset parameters to their defaults."""
    _change(call, instance, dict.fromkeys(names), allow_restart)


def _change(call: Call, instance: str, wanted: dict[str, Any], allow_restart: bool) -> None:
    body = {"parameters": wanted, "allow_restart": allow_restart}
    if call.is_dry_run:
        change_flow.preview(call, "changes/preview", {**body, "instance": instance})
    else:
        change_flow.run(call, f"instances/{instance}/changes", body)


@app.read("diff")
def diff(
    call: Call,
    instance: Name,
    other: Annotated[str | None, typer.Argument(help="Other instance; default: this instance's defaults.")] = None,
) -> None:
    """Compare values with the defaults or another instance.

    Running values are compared, and without another instance only those of parameters that were configured.
    """
    here = _parameters(call, instance)
    if other is None:
        against, title = {each["name"]: each["default"] for each in here if each["configured"] is not None}, "DEFAULT"
    else:
        against, title = {each["name"]: each["running"] for each in _parameters(call, other)}, other
    rows = [
        {"name": each["name"], "here": each["running"], "there": against[each["name"]]}
        for each in here
        if each["name"] in against and each["running"] != against[each["name"]]
    ]
    call.show_items(rows, {"PARAMETER": "name", instance: "here", title: "there"})


@app.read("history")
def history(
    call: Call, instance: Name, limit: Annotated[int, typer.Option(min=1, help="Number to show, newest first.")] = 50
) -> None:
    """Show who changed what, and when."""
    call.show_items(call.api.items(f"instances/{instance}/parameters/history", limit=limit), _HISTORY)


@app.decision("revert")
def revert(
    call: Call,
    instance: Name,
    change: Annotated[str | None, typer.Option(help="Change ID; default: the newest applied one.")] = None,
) -> None:
    """Restore what the newest applied parameter change replaced."""
    roll_back(call, call.api.get(f"changes/{change}") if change else _newest_applied(call, instance))


def _newest_applied(call: Call, instance: str) -> dict[str, Any]:
    changed = ("parameters", "enable", "disable", "revert")
    found = call.api.items("changes", instance=call.api.get(f"instances/{instance}")["id"], state="applied")
    newest = next((each for each in found if each["kind"] in changed), None)
    if newest is None:
        raise Failure(f"No change of parameters was applied to {instance}.", Exit.NOT_FOUND)
    return newest
