"""`fqc alert silence`: spans of time in which no messages are sent."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fqc.call import Call
from fqc.noun import Noun
from fqc.output import Cell
from fqc.units import human_time, pairs, span_seconds

app = Noun("Silences: when to send no messages.")
_LIST: dict[str, Cell] = {
    "ID": "id",
    "REASON": "reason",
    "RULE": "rule_id",
    "INSTANCE": "instance_id",
    "TAGS": "tags",
    "FROM": lambda it: human_time(it["starts_at"]),
    "UNTIL": lambda it: human_time(it["ends_at"]),
    "BY": "created_by",
}


@app.read("list")
def list_(
    call: Call,
    is_in_force: Annotated[bool | None, typer.Option("--in-force/--over", help="Only active, or only ended.")] = None,
) -> None:
    """List silences, newest first."""
    call.show_items(call.api.items("silences", is_in_force=is_in_force), _LIST)


@app.write("create")
def create(
    call: Call,
    reason: Annotated[str, typer.Argument(help="Why.", show_default=False)],
    hold: Annotated[str, typer.Option("--for", help="Duration, for example 2h.", show_default=False)],
    rule: Annotated[str | None, typer.Option(help="Only this rule.")] = None,
    instance: Annotated[str | None, typer.Option(help="Only this instance.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only instances with all of these tags.")] = None,
) -> None:
    """Hold back messages for a while; incidents are still recorded."""
    body: dict[str, Any] = {"reason": reason, "duration_seconds": span_seconds(hold), "tags": pairs(tag or [])}
    body |= {"rule_id": rule, "instance_id": instance and call.api.get(f"instances/{instance}")["id"]}
    if call.is_dry_run:
        call.would("POST", "silences", body)
    else:
        call.show_facts(call.api.post("silences", body), _LIST)


@app.write("end")
def end(call: Call, silence: Annotated[str, typer.Argument(help="The silence's ID.", show_default=False)]) -> None:
    """End a silence now."""
    if call.is_dry_run:
        call.would("DELETE", f"silences/{silence}")
    else:
        call.api.replace("DELETE", f"silences/{silence}")
