"""`fqc context`: the control planes that are stored with their tokens on this computer."""

from __future__ import annotations

from typing import Annotated

import typer

from fqc import contexts
from fqc.call import Call
from fqc.noun import Noun
from fqc.output import say

app = Noun("Control planes you are logged in to.")
Name = Annotated[str, typer.Argument(help="A context.", metavar="CONTEXT", show_default=False)]


@app.read("list")
def list_(call: Call) -> None:
    """List contexts; the current one is marked."""
    kept = contexts.load(contexts.path())
    rows = [
        {"name": name, "url": each.url, "username": each.username, "is_current": name == kept.current}
        for name, each in kept.contexts.items()
    ]
    call.show_items(rows, {"NAME": "name", "ADDRESS": "url", "USER": "username", "CURRENT": "is_current"})


@app.write("use")
def use(call: Call, name: Name) -> None:
    """Switch to a context."""
    kept = contexts.load(contexts.path())
    kept.named(name)
    if call.is_dry_run:
        say(f"Would make {name} the current context in place of {kept.current or 'none'}.")
        return
    kept.current = name
    contexts.save(contexts.path(), kept)


@app.write("remove")
def remove(call: Call, name: Name) -> None:
    """Remove a context from this computer.

    Its token stays valid until it expires; `fqc logout` revokes it.
    """
    kept = contexts.load(contexts.path())
    kept.named(name)
    if call.is_dry_run:
        say(f"Would forget {name}.")
        return
    kept.forget(name)
    contexts.save(contexts.path(), kept)
