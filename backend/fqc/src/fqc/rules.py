"""`fqc rules`: the rules of an instance's cache (`fqc_rules`): what it never stores, or serves for a time despite
writes.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from fqc import change_flow, change_view
from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.instance import Name
from fqc.noun import Noun
from fqc.output import Cell, stacked, table

app = Noun("Rules of an instance's cache; the first match applies.")

_MATCHES = ("digest", "table", "schema", "account")
_RULES: dict[str, Cell] = {
    "NO": "number",
    "MATCHES": lambda it: ", ".join(f"{name} {it[name]}" for name in _MATCHES if it.get(name)),
    "CACHE": "cache",
    "TTL": lambda it: f"{it['ttl']} s" if it.get("ttl") else None,
    "STATEMENTS": lambda it: it["effect"] and it["effect"]["matched"],
}
_ERRORS: dict[str, Cell] = {
    "RULE": lambda it: None if it["index"] is None else it["index"] + 1,
    "FIELD": "field",
    "WRONG": "detail",
}


class Action(StrEnum):
    NEVER = "never"
    ALWAYS = "always"
    NORMAL = "normal"


@app.read("list")
def list_(call: Call, instance: Name) -> None:
    """List the rules in order; count the statements each matches."""
    call.show(call.api.get(f"instances/{instance}/cache/rules"), lambda it: _told(it["rules"], it))


@app.change("add")
def add(
    call: Call,
    instance: Name,
    cache: Annotated[Action, typer.Option(help="What to do with reads that match.", show_default=False)],
    digest: Annotated[str | None, typer.Option(help="Statement, by its digest in `fqc cache queries`.")] = None,
    table: Annotated[str | None, typer.Option(help="Table, as schema.table; % matches any text.")] = None,
    schema: Annotated[str | None, typer.Option(help="Schema; % matches any text.")] = None,
    account: Annotated[str | None, typer.Option(help="Account, as user@host; % matches any text.")] = None,
    ttl: Annotated[int | None, typer.Option(help="Seconds that results may be stale, with --cache always.")] = None,
    position: Annotated[int | None, typer.Option(min=1, help="Its number among the rules; default: the last.")] = None,
) -> None:
    """Add a rule."""
    given = {"digest": digest, "table": table, "schema": schema, "account": account, "cache": cache.value, "ttl": ttl}
    rules = call.api.get(f"instances/{instance}/cache/rules")["rules"]
    place = len(rules) if position is None else position - 1
    rules.insert(place, {name: value for name, value in given.items() if value is not None})
    _set(call, instance, rules)


@app.change("remove")
def remove(
    call: Call,
    instance: Name,
    number: Annotated[int, typer.Argument(min=1, metavar="NO", help="As `fqc rules list` shows it.")],
) -> None:
    """Remove a rule by its number."""
    rules = call.api.get(f"instances/{instance}/cache/rules")["rules"]
    if number > len(rules):
        raise Failure(f"{instance} has no rule {number}.", Exit.NOT_FOUND, hint=f"fqc rules list {instance}")
    del rules[number - 1]
    _set(call, instance, rules)


def _set(call: Call, instance: str, rules: list[dict[str, Any]]) -> None:
    """Makes the change set that replaces all rules of the instance by these. Raises a Failure if they are not valid;
    nothing is changed then.
    """
    found = call.api.post(f"instances/{instance}/cache/rules/preview", {"rules": rules})
    if found["errors"]:
        call.show(found, lambda it: table(_ERRORS, it["errors"]))
        raise Failure("The rules are not valid.", Exit.REFUSED, hint="Nothing was changed.")
    if call.is_dry_run:
        call.show(found, lambda it: stacked(_told(rules, it), "", change_view.preview(it["change"])))
        if found["change"]["is_blocked"]:
            raise Failure("Blocked by a check.", Exit.REFUSED, hint="The findings say how to fix it.")
        return
    change_flow.run(call, f"instances/{instance}/changes", {"parameters": {"fqc_rules": found["text"]}})


def _told(rules: list[dict[str, Any]], found: dict[str, Any]) -> Any:
    by_index = {effect["index"]: effect for effect in found["effects"]}
    rows = [{**rule, "number": index + 1, "effect": by_index.get(index)} for index, rule in enumerate(rules)]
    known = found["note"] or f"The engine knows {found['statements']} statements."
    return stacked(table(_RULES, rows, none="No rules."), "", known)
