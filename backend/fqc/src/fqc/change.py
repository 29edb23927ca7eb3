"""`fqc change`: change sets, and approving, aborting or rolling them back."""

from __future__ import annotations

from typing import Annotated

import typer

from fqc import change_flow, change_view, completing
from fqc.asking import confirm
from fqc.call import Call
from fqc.noun import Noun

app = Noun("Change sets: previewed, approved and applied.")
Id = Annotated[str, typer.Argument(help="The change's ID.", metavar="CHANGE", show_default=False)]


@app.watch("list")
def list_(
    call: Call,
    of: Annotated[
        str | None,
        typer.Argument(
            help="Only of this instance.",
            metavar="INSTANCE",
            show_default=False,
            autocompletion=completing.instances,
        ),
    ] = None,
    instance: Annotated[str | None, typer.Option(help="The same.")] = None,
    state: Annotated[list[str] | None, typer.Option(help="Only in this state; may be repeated.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only of this kind.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Number to show, newest first.")] = 50,
) -> None:
    """List change sets, newest first."""
    name = of or instance
    found_id = name and call.api.get(f"instances/{name}")["id"]
    found = call.api.items("changes", limit=limit, instance=found_id, state=state, kind=kind)
    call.show_items(found, change_view.SUMMARY)


@app.watch("show")
def show(call: Call, change: Id) -> None:
    """Show one change set: its parameters, steps and findings."""
    call.show(call.api.get(f"changes/{change}"), change_view.change)


@app.approval("approve")
def approve(call: Call, change: Id) -> None:
    """Approve a previewed change set, to run now or later."""
    found = call.api.get(f"changes/{change}")
    if call.is_dry_run:
        call.would("POST", f"changes/{change}/approve", change_flow.timing(call))
        return
    if found["needs_restart"]:
        confirm(call, f"{found['instance_name']} will be restarted. Continue?")
    body = {**change_flow.timing(call), "note": call.note}
    change_flow.finish(call, call.api.post(f"changes/{change}/approve", body))


@app.write("abort")
def abort(call: Call, change: Id) -> None:
    """Abort a change set; a running one undoes what it did."""
    if call.is_dry_run:
        call.would("POST", f"changes/{change}/abort")
        return
    call.show(call.api.post(f"changes/{change}/abort"), change_view.change)


@app.decision("rollback")
def rollback(call: Call, change: Id) -> None:
    """Undo an applied change set with a new one."""
    roll_back(call, call.api.get(f"changes/{change}"))


def roll_back(call: Call, found: dict[str, object]) -> None:
    path = f"changes/{found['id']}/rollback"
    if call.is_dry_run:
        call.would("POST", path)
        return
    if found["needs_restart"]:
        confirm(call, f"{found['instance_name']} will be restarted. Continue?")
    change_flow.finish(call, call.api.post(path))
