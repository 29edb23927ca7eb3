"""`fqc alert rule`: the rules that open incidents."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from fqc import completing
from fqc.asking import confirm
from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.noun import Noun
from fqc.output import Cell, stacked, table
from fqc.units import human_time, pairs, span_seconds

app = Noun("Alert rules: when to open an incident.")
Id = Annotated[str, typer.Argument(help="Rule name or ID.", metavar="RULE", show_default=False)]
_SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_LIST: dict[str, Cell] = {
    "ID": "id",
    "NAME": "name",
    "CONDITION": lambda it: f"{it['metric']} {_SIGNS[it['comparison']]} {it['threshold']:g} for {it['for_seconds']} s",
    "SEVERITY": "severity",
    "WHERE": lambda it: it["instance_id"] or it["tags"] or it["scope"],
    "MAIL": "recipients",
    "ENABLED": "is_enabled",
}
_FACTS: dict[str, Cell] = {
    **_LIST,
    "EXCEPT": lambda it: [_exception(each) for each in it["overrides"]],
    "FORMULA": "formula",
}
_FIRINGS: dict[str, Cell] = {
    "INSTANCE": "instance_name",
    "FROM": lambda it: human_time(it["opened_at"]),
    "UNTIL": lambda it: human_time(it["resolved_at"]),
    "VALUE": "opened_value",
}
_WRITABLE = (
    "name", "description", "metric", "comparison", "threshold", "for_seconds", "minimum_traffic", "reminder_seconds",
    "severity", "scope", "tags", "instance_id", "recipients", "overrides", "is_enabled",
)  # fmt: skip


class Severity(StrEnum):
    WARNING = "warning"
    CRITICAL = "critical"


@app.read("list")
def list_(call: Call) -> None:
    """List all rules."""
    call.show_items(call.api.items("alert-rules"), _LIST)


@app.read("show")
def show(call: Call, rule: Id) -> None:
    """Show one rule."""
    call.show_facts(_named(call, rule), _FACTS)


@app.write("create")
def create(
    call: Call,
    name: Annotated[str, typer.Argument(help="Name, shown in mails.", show_default=False)],
    condition: Annotated[
        str,
        typer.Option(
            "--when", help="For example 'hit_ratio < 20'; `fqc metrics list` shows units.", show_default=False
        ),
    ],
    hold: Annotated[str, typer.Option("--for", help="How long it must hold, for example 10m.")] = "10m",
    minimum_traffic: Annotated[float, typer.Option(help="Ignore instances with less traffic than this.")] = 0.0,
    severity: Annotated[Severity, typer.Option(help="Severity of its incidents.")] = Severity.WARNING,
    instance: Annotated[str | None, typer.Option(help="Only this instance.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only instances with all of these tags.")] = None,
    mail: Annotated[list[str] | None, typer.Option(help="Recipient; may be repeated.")] = None,
) -> None:
    """Create a rule.

    A dry run shows where it would have fired over the past day.
    """
    body: dict[str, Any] = {"name": name, **parsed(condition), "for_seconds": span_seconds(hold)}
    body |= {"minimum_traffic": minimum_traffic, "severity": severity.value, "recipients": mail or []}
    body |= _scope(call, instance, tag)
    if call.is_dry_run:
        call.show(call.api.post("alert-rules/preview", body), _preview)
    else:
        call.show_facts(call.api.post("alert-rules", body), _LIST)


def parsed(condition: str) -> dict[str, Any]:
    words = condition.split()
    known = {sign: name for name, sign in _SIGNS.items()}
    try:
        metric, sign, threshold = words
        return {"metric": metric, "comparison": known[sign], "threshold": float(threshold)}
    except (ValueError, KeyError) as error:
        raise Failure(
            f"{condition!r} is not a condition.", Exit.USAGE, hint="Use a metric, one of < <= > >=, and a number."
        ) from error


def _named(call: Call, rule: str) -> dict[str, Any]:
    """Returns the rule with this id or name. Raises a Failure if there is none. The API finds rules by id only, so all
    of them are searched.
    """
    for found in call.api.items("alert-rules"):
        if rule in (found["id"], found["name"]):
            return found
    raise Failure(f"No alert rule named {rule}.", Exit.NOT_FOUND, hint="List them with `fqc alert rule list`.")


def _scope(call: Call, instance: str | None, tags: list[str] | None) -> dict[str, Any]:
    if instance:
        return {"scope": "instance", "instance_id": call.api.get(f"instances/{instance}")["id"]}
    return {"scope": "tags", "tags": pairs(tags)} if tags else {"scope": "all"}


def _exception(found: dict[str, Any]) -> str:
    if found["is_exempt"] or found["threshold"] is None:
        return f"{found['instance_id']}: {'exempt' if found['is_exempt'] else 'no override'}"
    return f"{found['instance_id']}: {found['threshold']:g}"


def _preview(found: dict[str, Any]) -> Any:
    words = f"over {found['hours']} h, on {found['examined_count']} of {found['instance_count']} instances"
    return stacked(table(_FIRINGS, found["firings"]), words)


@app.write("edit")
def edit(
    call: Call,
    rule: Id,
    condition: Annotated[str | None, typer.Option("--when", help="A new condition.")] = None,
    hold: Annotated[str | None, typer.Option("--for", help="How long it must hold.")] = None,
    enabled: Annotated[bool | None, typer.Option("--enable/--disable", help="Whether the rule is on.")] = None,
    mail: Annotated[list[str] | None, typer.Option(help="Recipient, replacing the current ones.")] = None,
) -> None:
    """Change a rule; options that are not given stay unchanged."""
    found = _named(call, rule)
    body = {name: found[name] for name in _WRITABLE}
    body |= parsed(condition) if condition else {}
    body |= {"for_seconds": span_seconds(hold)} if hold else {}
    body |= {"is_enabled": enabled} if enabled is not None else {}
    body |= {"recipients": mail} if mail else {}
    if call.is_dry_run:
        call.show(call.api.post("alert-rules/preview", body), _preview)
        return
    call.show_facts(call.api.replace("PUT", f"alert-rules/{found['id']}", body, version=found["version"]), _LIST)


@app.write("override")
def override(
    call: Call,
    rule: Id,
    instance: Annotated[
        str, typer.Argument(help="For this instance.", metavar="INSTANCE", autocompletion=completing.instances)
    ],
    threshold: Annotated[float | None, typer.Option(help="Threshold to use instead of the rule's.")] = None,
    exempt: Annotated[bool, typer.Option("--exempt", help="Exempt it from the rule.")] = False,
) -> None:
    """Set or remove an exception for one instance.

    With neither --threshold nor --exempt the rule holds for the instance as for all others.
    """
    found = _named(call, rule)
    of = call.api.get(f"instances/{instance}")["id"]
    body = {name: found[name] for name in _WRITABLE}
    body["overrides"] = [each for each in found["overrides"] if each["instance_id"] != of]
    if exempt or threshold is not None:
        body["overrides"].append({"instance_id": of, "threshold": threshold, "is_exempt": exempt})
    if call.is_dry_run:
        call.show(call.api.post("alert-rules/preview", body), _preview)
        return
    call.show_facts(call.api.replace("PUT", f"alert-rules/{found['id']}", body, version=found["version"]), _FACTS)


@app.removal("delete")
def delete(call: Call, rule: Id) -> None:
    """Delete a rule."""
    found = _named(call, rule)
    if call.is_dry_run:
        call.would("DELETE", f"alert-rules/{found['id']}")
        return
    confirm(call, f"The rule {found['name']} will be deleted. Continue?")
    call.api.replace("DELETE", f"alert-rules/{found['id']}", version=found["version"])
