"""`fqc line`: the release series of servers, the variables of each, and the servers that these were read from."""

from __future__ import annotations

from typing import Annotated

import typer

from fqc.asking import confirm
from fqc.call import Call
from fqc.instance import Name
from fqc.noun import Noun
from fqc.output import Cell
from fqc.units import human_time

app = Noun("Engine lines: variables, as shipped or read from a server.")
Id = Annotated[str, typer.Argument(help="The line.", metavar="LINE")]
_LIST: dict[str, Cell] = {
    "LINE": "id",
    "SOURCE": "source",
    "PARAMETERS": "parameter_count",
    "READ FROM": "read_from",
    "SERVER": "server_version",
    "READ": lambda it: human_time(it["read_at"]) if it["read_at"] else None,
}
_SOURCE: dict[str, Cell] = {"Instance": "name", "Source of definitions": "is_catalogue_source"}


@app.read("list")
def list_(call: Call) -> None:
    """List lines, and the instances that they were read from."""
    call.show_items(call.api.get("engine-lines")["items"], _LIST)


@app.removal("forget")
def forget(call: Call, line: Id) -> None:
    """Forget what a server described, until it is read again."""
    if call.is_dry_run:
        call.would("DELETE", f"engine-lines/{line}")
        return
    confirm(call, f"The definitions of {line} will be forgotten until a source of definitions is read. Continue?")
    call.api.replace("DELETE", f"engine-lines/{line}")


@app.write("trust")
def trust(call: Call, instance: Name) -> None:
    """Let an instance's server describe the variables of its line."""
    _alter(call, instance, is_source=True)


@app.write("distrust")
def distrust(call: Call, instance: Name) -> None:
    """Read no definitions from an instance's server."""
    _alter(call, instance, is_source=False)


def _alter(call: Call, instance: str, *, is_source: bool) -> None:
    body = {"is_catalogue_source": is_source}
    if call.is_dry_run:
        call.would("PATCH", f"instances/{instance}", body)
    else:
        call.show_facts(call.api.replace("PATCH", f"instances/{instance}", body), _SOURCE)
