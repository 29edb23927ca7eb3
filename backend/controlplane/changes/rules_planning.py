"""The rules of an instance, and previews of other rules. Rules are applied by a change of the parameter `fqc_rules`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from controlplane.changes.planning import preview_parameters
from controlplane.core.errors import Conflict
from controlplane.fleet.connection import connected
from controlplane.fleet.models import Instance
from controlplane.gateway import reports
from controlplane.gateway.numbers import whole
from controlplane.prerequisites import rule_list
from controlplane.prerequisites.status import report

RULES = "fqc_rules"
EXAMPLES = 5


def rules_get(instance: Instance) -> dict[str, Any]:
    """Reads the cache's rules from the server, and returns them with the statements that each decides.

    Raises Conflict if the engine there does not support rules, GatewayError if the server does not answer.
    """
    text, subjects, note = _read(instance)
    rules, _ = rule_list.parse(text)
    return {"text": text, "rules": [rule.written() for rule in rules], **_explained(rules, subjects, note)}


def rules_preview(instance: Instance, rules: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    given = [{name: value for name, value in rule.items() if value is not None} for rule in rules]
    parsed, errors = rule_list.check(given)
    text = rule_list.text_of(given)
    _, subjects, note = _read(instance)
    if errors:
        return {"text": text, "errors": errors, "change": None, **_explained([], subjects, note)}
    change = preview_parameters(instance, parameters={RULES: text})
    return {"text": text, "errors": [], "change": change, **_explained(parsed, subjects, note)}


def _read(instance: Instance) -> tuple[str, list[rule_list.Subject], str]:
    with connected(instance) as server:
        text = server.variable(RULES)
        found = report(server, reports.QUERIES)
    if text is None:
        raise Conflict(f"The engine of {instance.name} does not support rules.", code="no_rules_there")
    return text, [_subject(row) for row in found.rows if _is_shape(row)], found.note


def _is_shape(row: Mapping[str, str | None]) -> bool:
    """Returns whether the row of SHOW FQC QUERIES is about one statement: the row for all other statements has no
    digest.
    """
    return bool((row.get(reports.DIGEST) or "").strip("0"))


def _subject(row: Mapping[str, str | None]) -> rule_list.Subject:
    tables = tuple(name for name in (row.get(reports.TABLES_READ) or "").split(", ") if name)
    text, executions = row.get(reports.QUERY) or "", whole(row.get(reports.EXECUTIONS)) or 0
    return rule_list.Subject(row.get(reports.DIGEST) or "", tables, text, executions)


def _explained(rules: Sequence[rule_list.Rule], subjects: Sequence[rule_list.Subject], note: str) -> dict[str, Any]:
    return {
        "effects": [
            {
                "index": effect.index,
                "matched": len(effect.statements),
                "executions": sum(each.executions for each in effect.statements),
                "is_by_account": effect.is_by_account,
                "examples": [each.text for each in effect.statements[:EXAMPLES]],
            }
            for effect in rule_list.effects(rules, subjects)
        ],
        "statements": len(subjects),
        "statements_without_tables": sum(not each.tables for each in subjects),
        "note": note,
    }
