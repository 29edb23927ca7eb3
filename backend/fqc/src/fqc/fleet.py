"""`fqc fleet`: one template, or an upgrade of the engine, for many instances."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fqc.asking import confirm
from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.headlines import headline_cells, headlines_of
from fqc.noun import Noun
from fqc.output import Cell, facts, stacked, table, written
from fqc.units import human_time, pairs, point
from fqc.waiting import until

app = Noun("The whole fleet: a template or a plugin for many instances.")
Id = Annotated[str, typer.Argument(help="ID of the fleet apply.", metavar="APPLY", show_default=False)]
Instances = Annotated[list[str] | None, typer.Option(help="Instance; may be repeated.")]
Tags = Annotated[list[str] | None, typer.Option(help="Instances with all of these tags; may be repeated.")]
Every = Annotated[bool, typer.Option("--all", help="Every instance.")]
Note = Annotated[str, typer.Option(help="Reason, kept with it.")]
InWindow = Annotated[bool, typer.Option("--window", help="Each instance in its maintenance window.")]
At = Annotated[str | None, typer.Option(help="Start at this time, for example 2026-11-20T22:00Z.")]
_ENDED = {"done", "stopped", "aborted"}
_UNDONE = ("pending", "dispatched", "running")
_LIST: dict[str, Cell] = {
    "ID": "id",
    "WHAT": lambda it: _subject(it),
    "STATE": "state",
    "INSTANCES": lambda it: _counted(it["counts"]),
    "BY": "created_by",
    "CREATED": lambda it: human_time(it["created_at"]),
}
_ITEMS: dict[str, Cell] = {
    "INSTANCE": "instance_name",
    "STATE": "state",
    "RESTART": "needs_restart",
    "LINES": lambda it: len(it["lines"]),
    "CHANGE": "change",
    "P95 MS": lambda it: _p95(it),
    "DETAIL": "detail",
}
_PREVIEW: dict[str, Cell] = {
    "INSTANCE": "instance_name",
    "RESTART": "needs_restart",
    "CHANGES": lambda it: [_change(line) for line in it["lines"]],
    "BLOCKED BY": "blocking",
    "NOTES": lambda it: [each["seen"] for each in it["findings"] if each["severity"] != "blocking"],
}
_SUMMARY: dict[str, Cell] = {
    "Instances": "instance_count",
    "By state": "by_state",
    "Plugin missing": "without_engine_count",
    "Drifted": "drifted_count",
    "Pending restart": "pending_restart_count",
}


def _subject(it: dict[str, Any]) -> str:
    if it["kind"] == "upgrade":
        return f"plugin {it['minor_version']}"
    return f"{it['template_name']} v{it['template_version']}"


def _p95(it: dict[str, Any]) -> str:
    """Returns the 95th percentile of statement times, in milliseconds, before an upgrade and after it. Empty if one is
    unknown.
    """
    before, after = it["p95_before_ms"], it["p95_after_ms"]
    return "" if before is None or after is None else f"{before:.3g} -> {after:.3g}"


def _counted(counts: dict[str, int]) -> dict[str, int]:
    return {state: count for state, count in counts.items() if count}


def _change(line: dict[str, Any]) -> str:
    given, value = line["new_submitted"], line["new_value"]
    told = f" ({written(given)})" if given is not None and given != value else ""
    return f"{line['name']}: {written(line['old_value'])} -> {written(value)}{told}"


@app.watch("status")
def status(call: Call) -> None:
    """Show the fleet in a few numbers."""
    found = {
        **call.api.get("fleet/summary"),
        "headlines": headlines_of(call.api.get("fleet/headlines")["series"]),
    }
    call.show_facts(found, {**_SUMMARY, **headline_cells(found["headlines"])})


@app.decision("apply")
def apply(
    call: Call,
    template: Annotated[str, typer.Argument(help="Template name or ID.", show_default=False)],
    instance: Instances = None,
    tag: Tags = None,
    every: Every = False,
    version: Annotated[int | None, typer.Option(min=1, help="Version of the template; default: the newest.")] = None,
    parallelism: Annotated[int, typer.Option(min=1, help="Instances at a time.")] = 5,
    max_failures: Annotated[int, typer.Option(min=0, help="Failures allowed before it stops.")] = 0,
    allow_restart: Annotated[
        bool, typer.Option("--allow-restart", help="Restart the server if a parameter needs it.")
    ] = False,
    note: Note = "",
    in_window: InWindow = False,
    at: At = None,
) -> None:
    """Apply a template to many instances.

    Previews all of them, applies to a few at a time, and stops when too many fail.
    """
    body: dict[str, Any] = {"template": template, "template_version": version, "allow_restart": allow_restart}
    limits = {"parallelism": parallelism, "max_failures": max_failures, "note": note, **_timing(in_window, at)}
    _carry_out(call, body | _selection(instance, tag, every), limits)


@app.decision("upgrade")
def upgrade(
    call: Call,
    instance: Instances = None,
    tag: Tags = None,
    every: Every = False,
    wave: Annotated[int, typer.Option(min=1, max=100, help="Instances in each wave.")] = 1,
    settle: Annotated[int, typer.Option(min=0, max=86400, help="Seconds to watch each wave.")] = 120,
    max_p95: Annotated[
        int | None,
        typer.Option(min=100, max=100000, help="p95 answer time allowed, in percent of before; default: any."),
    ] = None,
    allow_restart: Annotated[
        bool, typer.Option("--allow-restart", help="Restart servers that run an older plugin.")
    ] = False,
    note: Note = "",
    in_window: InWindow = False,
    at: At = None,
) -> None:
    """Install the control plane's plugin on many instances, in waves.

    Watches each wave, and stops at a critical incident, at a wrong result
    that verify mode found, where the new version does not run, or, with
    --max-p95, where statements take longer.
    """
    body: dict[str, Any] = {"kind": "upgrade", "allow_restart": allow_restart} | _selection(instance, tag, every)
    limits = {"parallelism": wave, "settle_seconds": settle, "max_p95_percent": max_p95, "note": note}
    _carry_out(call, body, limits | _timing(in_window, at))


def _selection(instance: list[str] | None, tag: list[str] | None, every: bool) -> dict[str, Any]:
    if not (instance or tag or every):
        raise Failure("No instances are given.", Exit.USAGE, hint="Use --instance, --tag or --all.")
    return {"instances": instance or [], "tags": pairs(tag or []), "every": every}


def _carry_out(call: Call, body: dict[str, Any], limits: dict[str, Any]) -> None:
    if call.is_dry_run:
        _preview(call, body)
        return
    made = call.api.post("fleet-applies", {**body, **limits})
    _ask(call, made)
    _finish(call, call.api.post(f"fleet-applies/{made['id']}/start"))


def _timing(in_window: bool, at: str | None) -> dict[str, Any]:
    if at:
        return {"when": "at", "at": point(at)}
    return {"when": "window" if in_window else "now"}


def _preview(call: Call, body: dict[str, Any]) -> None:
    found = call.api.post("fleet-applies/preview", body)
    call.show(found, lambda it: table(_PREVIEW, it["items"]))
    if any(item["blocking"] for item in found["items"]):
        raise Failure("Some instances are blocked by a check.", Exit.REFUSED, hint="They would be skipped.")


def _ask(call: Call, made: dict[str, Any]) -> None:
    items = list(call.api.items(f"fleet-applies/{made['id']}/items"))
    going = [item for item in items if item["state"] != "blocked"]
    restarts = sum(item["needs_restart"] for item in going)
    words = f", {restarts} with a restart" if restarts else ""
    if blocked := len(items) - len(going):
        words += f"; {blocked} blocked, --dry-run shows why"
    try:
        confirm(call, f"{_told(made)} {len(going)} instances{words}. Continue?")
    except BaseException:
        call.api.post(f"fleet-applies/{made['id']}/abort")
        raise


def _told(made: dict[str, Any]) -> str:
    if made["kind"] == "upgrade":
        return f"The plugin's minor version {made['minor_version']} will be installed on"
    return f"{made['template_name']} will be applied to"


def _finish(call: Call, found: dict[str, Any]) -> None:
    if call.is_waiting:
        found = until(
            lambda: call.api.get(f"fleet-applies/{found['id']}"),
            lambda it: it["state"] in _ENDED,
            lambda it: (it["state"], _ended_count(it), sum(it["counts"].values())),
            timeout_seconds=call.timeout_seconds,
            what=f"Fleet apply {found['id']}",
            hint=f"It continues in the background: fqc fleet show {found['id']} --watch",
        )
    _show(call, found)
    if found["state"] in ("stopped", "aborted") or found["counts"].get("failed"):
        raise Failure(f"Fleet apply {found['id']} ended as {found['state']}, with failures.", hint="See its items.")


def _ended_count(found: dict[str, Any]) -> int:
    return sum(count for state, count in found["counts"].items() if state not in _UNDONE)


def _show(call: Call, found: dict[str, Any]) -> None:
    whole = {**found, "items": list(call.api.items(f"fleet-applies/{found['id']}/items"))}
    call.show(whole, lambda it: stacked(facts(_LIST, it), "", table(_ITEMS, it["items"])))


@app.watch("list")
def list_(call: Call, limit: Annotated[int, typer.Option(min=1, help="Number to show, newest first.")] = 50) -> None:
    """List fleet applies, newest first."""
    call.show_items(call.api.items("fleet-applies", limit=limit), _LIST)


@app.watch("show")
def show(call: Call, apply: Id) -> None:
    """Show one fleet apply and the result for each instance."""
    _show(call, call.api.get(f"fleet-applies/{apply}"))


@app.decision("rollback")
def rollback(call: Call, apply: Id) -> None:
    """Roll back: restore the previous values on each changed instance."""
    if call.is_dry_run:
        call.would("POST", f"fleet-applies/{apply}/rollback")
        return
    found = call.api.get(f"fleet-applies/{apply}")
    count = found["counts"].get("applied", 0)
    confirm(call, f"The previous values will be restored on {count} instances. Continue?")
    _finish(call, call.api.post(f"fleet-applies/{found['id']}/rollback"))


@app.write("pause")
def pause(call: Call, apply: Id) -> None:
    """Pause: finish running changes and start no new ones."""
    _decide(call, apply, "pause")


@app.write("resume")
def resume(call: Call, apply: Id) -> None:
    """Resume a paused fleet apply."""
    _decide(call, apply, "resume")


@app.write("abort")
def abort(call: Call, apply: Id) -> None:
    """Abort: skip what has not started and undo what is running."""
    _decide(call, apply, "abort")


def _decide(call: Call, apply: str, action: str) -> None:
    path = f"fleet-applies/{apply}/{action}"
    if call.is_dry_run:
        call.would("POST", path)
    else:
        _show(call, call.api.post(path))
