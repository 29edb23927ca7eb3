"""`fqc template`: versioned sets of parameter values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fqc import change_flow, completing
from fqc.asking import confirm
from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.instance import Name as Instance
from fqc.noun import Noun
from fqc.output import Cell, facts, stacked, table
from fqc.template_text import edited, parsed
from fqc.units import human_time, pairs

app = Noun("Templates: versioned sets of parameter values.")
Name = Annotated[
    str,
    typer.Argument(
        help="Template name or ID.", metavar="TEMPLATE", show_default=False, autocompletion=completing.templates
    ),
]
Set = Annotated[list[str] | None, typer.Option("--set", help="May be repeated.")]
File = Annotated[
    Path | None, typer.Option("--file", "-f", exists=True, dir_okay=False, help="Lines of `name = value`.")
]
ANY_LINE = "5.7"  # the line of the managed service, whose templates fit every server
_LIST: dict[str, Cell] = {
    "NAME": "name",
    "LINE": lambda it: "any" if it["engine_line"] == ANY_LINE else it["engine_line"],
    "VERSION": "version",
    "SYSTEM": "is_system",
    "DESCRIPTION": "description",
    "UPDATED": lambda it: human_time(it["updated_at"]),
    "ID": "id",
}
_USES: dict[str, Cell] = {
    "INSTANCE": "instance_name",
    "VERSION": "version",
    "IN STEP": "is_in_step",
    "DIFFERS IN": lambda it: [f"{each['name']}: {each['configured']}" for each in it["differences"]],
    "APPLIED": lambda it: human_time(it["applied_at"]),
    "BY": "applied_by",
}
_DIFF: dict[str, Cell] = {"PARAMETER": "name", "HOW": "kind", "BEFORE": "before", "AFTER": "after"}


def _view(found: dict[str, Any]) -> Any:
    values = [{"name": name, "value": value} for name, value in found["values"].items()]
    top = {title: cell for title, cell in _LIST.items() if title != "UPDATED"}
    return stacked(facts(top, found), "", table({"PARAMETER": "name", "VALUE": "value"}, values))


def _values(file: Path | None, given: list[str] | None) -> dict[str, str]:
    return (parsed(file.read_text()) if file else {}) | pairs(given or [])


@app.watch("list")
def list_(
    call: Call, engine_line: Annotated[str | None, typer.Option("--line", help="Only of this server line.")] = None
) -> None:
    """List templates."""
    call.show_items(call.api.items("templates", engine_line=engine_line), _LIST)


@app.read("show")
def show(call: Call, template: Name) -> None:
    """Show one template and its values."""
    call.show(call.api.get(f"templates/{template}"), _view)


@app.watch("instances")
def instances(
    call: Call,
    template: Name,
    version: Annotated[int | None, typer.Option(min=1, help="Only those with this version.")] = None,
) -> None:
    """Show which instances use a template, and which differ from it."""
    call.show_items(call.api.items(f"templates/{template}/instances", version=version), _USES)


@app.write("create")
def create(
    call: Call,
    name: Annotated[str, typer.Argument(help="A unique name.", show_default=False)],
    values: Set = None,
    file: File = None,
    engine_line: Annotated[
        str | None,
        typer.Option("--line", help="Server line whose parameters it sets; default: that of most instances."),
    ] = None,
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
) -> None:
    """Create a template."""
    body = {"name": name, "description": description, "values": _values(file, values)}
    body |= {"engine_line": engine_line} if engine_line else {}
    _write(call, "templates", body)


@app.write("edit")
def edit(
    call: Call,
    template: Name,
    values: Set = None,
    unset: Annotated[list[str] | None, typer.Option(help="Remove this parameter; may be repeated.")] = None,
    file: File = None,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    note: Annotated[str, typer.Option(help="Reason, kept with the version.")] = "",
) -> None:
    """Create a new version.

    With --set and --unset, from a file, or, without any of them, in your $EDITOR.
    """
    found = call.api.get(f"templates/{template}")
    body: dict[str, Any] = {"note": note}
    if description is not None:
        body["description"] = description
    if file:
        body |= {"values": _values(file, values), "mode": "overwrite"}
    elif values or unset:
        body["values"] = {**pairs(values or []), **dict.fromkeys(unset or [])}
    elif description is None:
        body |= {"values": edited(found["values"]), "mode": "overwrite"}
    if call.is_dry_run:
        call.would("PATCH", f"templates/{found['id']}", body)
        return
    call.show(call.api.replace("PATCH", f"templates/{found['id']}", body, version=found["version"]), _view)


@app.write("clone")
def clone(
    call: Call,
    template: Name,
    name: Annotated[str, typer.Argument(help="The copy's name.", metavar="NAME", show_default=False)],
    version: Annotated[int | None, typer.Option(min=1, help="Version; default: the newest.")] = None,
) -> None:
    """Copy a template, including built-in ones."""
    body: dict[str, Any] = {"name": name} | ({"version": version} if version else {})
    _write(call, f"templates/{template}/clone", body)


def _write(call: Call, path: str, body: dict[str, Any]) -> None:
    if call.is_dry_run:
        call.would("POST", path, body)
    else:
        call.show(call.api.post(path, body), _view)


@app.read("diff")
def diff(
    call: Call,
    template: Name,
    other: Annotated[str | None, typer.Argument(help="Other template; default: this one.")] = None,
    version: Annotated[int | None, typer.Option(min=1, help="Version of the first.")] = None,
    other_version: Annotated[int | None, typer.Option(min=1, help="Version of the second.")] = None,
) -> None:
    """Compare two templates, or two versions of one."""
    if other is None and version is None and other_version is None:
        raise Failure("Nothing to compare with.", Exit.USAGE, hint="Name another template, or --version.")
    query = {"other": other, "version": version, "other_version": other_version}
    call.show_items(call.api.get(f"templates/{template}/diff", **query)["items"], _DIFF)


@app.change("apply")
def apply(
    call: Call,
    template: Name,
    instance: Instance,
    version: Annotated[int | None, typer.Option(min=1, help="Version; default: the newest.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Reset parameters the template does not set.")] = False,
    allow_restart: Annotated[
        bool, typer.Option("--allow-restart", help="Restart the server if a parameter needs it.")
    ] = False,
) -> None:
    """Apply a template to an instance."""
    body = {"template": template, "template_version": version, "replace": replace, "allow_restart": allow_restart}
    if call.is_dry_run:
        change_flow.preview(call, "changes/preview", {**body, "instance": instance})
    else:
        change_flow.run(call, f"instances/{instance}/changes", body)


@app.removal("delete")
def delete(call: Call, template: Name) -> None:
    """Delete a template; instances keep their values."""
    found = call.api.get(f"templates/{template}")
    if call.is_dry_run:
        call.would("DELETE", f"templates/{found['id']}")
        return
    confirm(call, f"{found['name']} and all its versions will be deleted. Continue?")
    call.api.replace("DELETE", f"templates/{found['id']}", version=found["version"])
