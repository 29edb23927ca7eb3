"""How previews and change sets are shown to people."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fqc.output import Cell, facts, stacked, table
from fqc.units import human_time

SUMMARY: dict[str, Cell] = {
    "ID": "id",
    "INSTANCE": "instance_name",
    "KIND": "kind",
    "STATE": "state",
    "CHANGED": lambda change: changed(change),
    "TOOK": lambda change: took(change),
    "CREATED": lambda change: human_time(change["created_at"]),
    "DUE": lambda change: human_time(change["not_before"]) if change["state"] == "approved" else None,
    "BY": "created_by",
    "RESTART": "needs_restart",
    "OUTCOME": "outcome_code",
}
_FACTS: dict[str, Cell] = {
    "Change": "id",
    "Instance": "instance_name",
    "Kind": "kind",
    "State": "state",
    "Outcome": "outcome_detail",
    "Restart": "needs_restart",
    "When": lambda change: human_time(change["not_before"]) or change["when"],
    "Made by": "created_by",
    "Approved by": "approved_by",
    "Note": "note",
}
LINES: dict[str, Cell] = {
    "PARAMETER": "name",
    "OLD": lambda line: _both(line["old_submitted"], line["old_value"]),
    "NEW": lambda line: _both(line["new_submitted"], line["new_value"], is_default=True),
    "RESTART": "needs_restart",
}
_STEPS: dict[str, Cell] = {"STEP": "kind", "ON": "name", "STATE": "state", "DETAIL": "detail"}
_PLANNED: dict[str, Cell] = {"STEP": "kind", "ON": "name", "OLD": "old", "NEW": "new"}
FINDINGS: dict[str, Cell] = {
    "FINDING": "severity",
    "CODE": "code",
    "SEEN": "seen",
    "NEEDED": "needed",
    "REMEDY": lambda finding: remedy(finding),
}


def changed(change: dict[str, Any]) -> str | None:
    """Returns what a change set alters in short: `long_query_time 10 -> 2.5, +1` stands for two parameters. None if
    nothing.
    """
    first = next(iter(change["changed"]), None)
    if first is None:
        return None
    more = change["changed_count"] - 1
    new = "default" if first["new"] is None else first["new"]
    old = "-" if first["old"] is None else first["old"]
    return f"{first['name']} {old} -> {new}" + (f", +{more}" if more else "")


def took(change: dict[str, Any]) -> str | None:
    """Returns how long a change set ran, such as `1.2 s`. None if it has not ended."""
    if not change["started_at"] or not change["finished_at"]:
        return None
    begun, ended = (datetime.fromisoformat(change[name]) for name in ("started_at", "finished_at"))
    return f"{(ended - begun).total_seconds():.1f} s"


def preview(plan: dict[str, Any]) -> Any:
    verdict = "blocked" if plan["is_blocked"] else "can be applied"
    restart = ", with a restart" if plan["needs_restart"] else ""
    steps = table(_PLANNED, plan["steps"])
    return stacked(table(LINES, plan["lines"]), "", steps, *_findings(plan["findings"]), "", verdict + restart)


def change(found: dict[str, Any]) -> Any:
    lines = ["", table(LINES, found["lines"])] if found["lines"] else []
    steps = ["", table(_STEPS, found["steps"])] if found["steps"] else []
    return stacked(facts(_FACTS, found), *lines, *steps, *_findings(found["findings"]))


def remedy(finding: dict[str, Any]) -> str:
    """Returns how to fix a finding, followed by the SQL statements that a person has to run for it, if any."""
    action = finding.get("action") or {}
    return " ".join([finding["remedy"], *(f"`{statement}`" for statement in action.get("statements", []))])


def _findings(found: list[dict[str, Any]]) -> list[Any]:
    return ["", table(FINDINGS, found)] if found else []


def _both(submitted: str | None, value: str | None, *, is_default: bool = False) -> str | None:
    """Returns a value as submitted, followed by the value that an expression resolves to, if they differ. `is_default`
    marks a value without a submitted one as the default. None if there is neither.
    """
    if submitted is None:
        return f"{value} (default)" if is_default and value is not None else value
    return submitted if submitted == value or value is None else f"{submitted} = {value}"
