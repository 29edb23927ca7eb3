"""`fqc settings`: the settings of the whole control plane, for administrators."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.noun import Noun
from fqc.output import Cell

app = Noun("Settings of the control plane; for administrators.")
Pairs = Annotated[list[str], typer.Argument(help="NAME=VALUE; a list is written as JSON.", show_default=False)]
_READ_ONLY = ("version", "updated_at", "has_smtp_password")


@app.read("show")
def show(call: Call) -> None:
    """Show all settings."""
    found = call.api.get("settings")
    call.show_facts(found, _cells(found))


@app.write("set")
def set_(call: Call, values: Pairs) -> None:
    """Change settings."""
    found = call.api.get("settings")
    body = dict(_pair(found, text) for text in values)
    if call.is_dry_run:
        call.would("PATCH", "settings", body)
        return
    changed = call.api.replace("PATCH", "settings", body, version=found["version"])
    call.show_facts(changed, _cells(changed))


def _pair(found: dict[str, Any], text: str) -> tuple[str, Any]:
    """Parses NAME=VALUE into the name of a setting and its value. The value is taken as text if the setting is a text,
    and otherwise read as JSON. Raises a Failure if either is wrong.
    """
    name, is_pair, value = text.partition("=")
    known = sorted(found.keys() - {*_READ_ONLY})
    if not is_pair or name not in known:
        raise Failure(f"{text}: write NAME=VALUE.", Exit.USAGE, hint=f"The settings are {', '.join(known)}.")
    if isinstance(found[name], str):
        return name, value
    try:
        return name, json.loads(value)
    except ValueError as error:
        raise Failure(f"{name}: {value!r} is not a value like {json.dumps(found[name])}.", Exit.USAGE) from error


def _cells(found: dict[str, Any]) -> dict[str, Cell]:
    return {name: name for name in found}
