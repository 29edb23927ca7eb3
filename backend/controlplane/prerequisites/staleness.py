"""Advice on rules that let the engine serve results although they may be stale.

Pure. Without such a rule no stale result is served.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from controlplane.gateway.numbers import whole
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.findings import Action, InstanceFinding
from controlplane.prerequisites.readings import Readings

LONGEST_SECONDS = 60
SCOPES = ("digest", "table", "schema", "account")


def stale_reads(readings: Readings) -> InstanceFinding | None:
    """Returns a finding about rules that allow stale results: a notice while every such rule is limited to a scope and
    to a short time, advice if one is not.

    None without such rules.
    """
    rules = engine_rules(readings)
    stale = [rule for rule in rules if rule.get("cache") == "always"]
    if not stale:
        return None
    unlimited = [rule for rule in stale if not _is_limited(rule)]
    told = unlimited or stale
    return InstanceFinding(
        Severity.ADVICE if unlimited else Severity.NOTICE,
        "stale_reads",
        "fqc_rules",
        seen="by fqc_rules, despite writes: " + "; ".join(map(_said, told)) + _served(readings),
        needed=f"only reads that may be stale, by table, schema, statement or account; {LONGEST_SECONDS} s at most",
        remedy="Limit these rules to reads that may be stale; all other reads never are." if unlimited else "",
        action=_without(rules, unlimited) if unlimited else None,
        facts={
            "rules": "; ".join(f"{_what(rule) or '*'}: {_seconds(rule)} s" for rule in told),
            "longest": str(LONGEST_SECONDS),
        },
    )


def engine_rules(readings: Readings) -> list[dict[str, Any]]:
    """Returns the rules in force, as the server's fqc_rules has them.

    The engine refuses wrong rules; if another server has a variable of this name, there are none.
    """
    try:
        found = json.loads(readings.variables.get("fqc_rules") or "[]")
    except ValueError:
        return []
    return [rule for rule in found if isinstance(rule, dict)] if isinstance(found, list) else []


def _is_limited(rule: Mapping[str, Any]) -> bool:
    return bool(_scope(rule)) and _seconds(rule) <= LONGEST_SECONDS


def _scope(rule: Mapping[str, Any]) -> dict[str, str]:
    """Returns what the rule is limited to, by field. A name that consists of wildcards limits nothing."""
    return {name: str(rule[name]) for name in SCOPES if str(rule.get(name, "")).strip("%.@")}


def _seconds(rule: Mapping[str, Any]) -> int:
    return whole(str(rule.get("ttl"))) or 0


def _said(rule: Mapping[str, Any]) -> str:
    return f"results of {_what(rule) or 'all tables'} may be {_seconds(rule)} s old"


def _what(rule: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in _scope(rule).items())


def _served(readings: Readings) -> str:
    count = readings.number("Fqc_stale_hits")
    return f"; {count} of {readings.number('Fqc_hits')} hits were stale" if count else ""


def _without(rules: list[dict[str, Any]], unlimited: list[dict[str, Any]]) -> Action:
    kept = [rule for rule in rules if rule not in unlimited]
    return Action(route="changes", body={"parameters": {"fqc_rules": json.dumps(kept) if kept else ""}})
