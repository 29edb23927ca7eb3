"""Previews of changes: the request, the instance's situation and the resulting plan.

Nothing is stored or altered here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from controlplane.accounts.roles import is_by_admin
from controlplane.catalogue.line import CACHE_PREFIX
from controlplane.catalogue.normal import is_off
from controlplane.changes.plan import Plan, PlannedLine, Situation, Step, plan
from controlplane.core.errors import FieldError, Refused
from controlplane.fleet.definitions import instance_line
from controlplane.fleet.models import Instance, InstanceClass
from controlplane.fleet.showing import kept_by_server, obstacle_look_again, running_values
from controlplane.fleet.states import Provider
from controlplane.parameters.findings import Severity
from controlplane.parameters.models import TemplateVersion
from controlplane.prerequisites import rule_list
from controlplane.prerequisites.findings import Action, InstanceFinding, of_parameters
from controlplane.prerequisites.gate import known_gate_findings
from controlplane.prerequisites.privileges import privileges_to_set
from controlplane.prerequisites.unknown_line import line_unknown

TURNS_CACHE_ON = ("query_cache_type", "query_cache_size")
EMPTIES_CACHE = ("query_cache_size", "fqc_size", "fqc_rules")


@dataclass(frozen=True)
class Preview:
    instance: str
    instance_version: int
    is_live: bool
    needs_restart: bool
    lines: list[PlannedLine] = field(default_factory=list)
    steps: list[dict[str, object]] = field(default_factory=list)
    findings: list[InstanceFinding] = field(default_factory=list)
    needs_admin: bool = False

    @property
    def is_blocked(self) -> bool:
        return any(finding.is_blocking for finding in self.findings)

    def refuse_if_blocked(self) -> None:
        blocking = [finding for finding in self.findings if finding.is_blocking]
        if blocking:
            raise _refusal(blocking)


def _refusal(blocking: list[InstanceFinding]) -> Refused:
    first = blocking[0]
    refused = Refused(
        f"{first.seen}; needed: {first.needed}. {first.remedy}",
        code=first.code,
        errors=[FieldError(each.parameter, each.code, f"{each.seen}. {each.remedy}") for each in blocking],
    )
    actions = [each.action for each in blocking if each.action]
    refused.statements = list(dict.fromkeys(statement for action in actions for statement in action.statements))
    return refused


def wanted_values(
    instance: Instance,
    parameters: Mapping[str, str | None],
    template: TemplateVersion | None = None,
    replace: bool = False,
) -> dict[str, str | None]:
    """Returns what a request wants to configure, by parameter: the template's values, overridden by `parameters`.

    None resets a parameter; with `replace`, so do configured parameters that neither names.
    """
    wanted: dict[str, str | None] = {}
    if replace:
        wanted |= dict.fromkeys(instance.parameters.values_list("name", flat=True))
    if template:
        wanted |= template.values
    return wanted | dict(parameters)


def situation_of(instance: Instance, target: InstanceClass | None = None) -> Situation:
    rows = list(instance.parameters.all())
    live = running_values(instance)
    known = {row.name: row.running for row in rows if row.running is not None}
    keeps_dynamic, keeps_static = kept_by_server(instance, live or {})
    return Situation(
        line=instance_line(instance),
        variables=(target or instance.instance_class).variables,
        configured={row.name: row.submitted for row in rows},
        running=known if live is None else live,
        is_live=live is not None,
        is_silent=live is None,
        is_local=instance.provider == Provider.LOCAL,
        keeps_dynamic=keeps_dynamic,
        keeps_static=keeps_static,
    )


def preview_parameters(
    instance: Instance,
    *,
    parameters: Mapping[str, str | None],
    template: TemplateVersion | None = None,
    replace: bool = False,
    allow_restart: bool = False,
) -> Preview:
    wanted = wanted_values(instance, parameters, template, replace)
    return preview_wanted(instance, situation_of(instance), wanted, allow_restart=allow_restart)


def preview_wanted(
    instance: Instance,
    situation: Situation,
    wanted: Mapping[str, str | None],
    *,
    allow_restart: bool,
    restored: Mapping[str, str] = MappingProxyType({}),
    first_steps: tuple[Step, ...] = (),
    more_findings: tuple[InstanceFinding, ...] = (),
) -> Preview:
    found = plan(situation, wanted, allow_restart=allow_restart, by_admin=is_by_admin(), restored=restored)
    gate = _cache_gate(instance, found)
    # A server without the engine may lack the cache's parameters too, but the finding to show is the missing engine.
    others = [
        each for each in found.findings if not (gate and each.code == "not_on_server" and is_of_cache(each.parameter))
    ]
    findings = [*more_findings, *gate, *of_parameters(others)]
    waiting = [each for each in _waiting(situation, found) if not (gate and is_of_cache(each.name))]
    findings += _pending(instance, situation, waiting, allow_restart) + _silent(instance, situation)
    findings += _wrong_rules(found) + (line_unknown(instance) if wanted else [])
    findings += _not_allowed(instance, situation, found) + _empties_cache(situation, found)
    preview = build(instance, [*first_steps, *found.steps], situation.is_live, found.lines, findings)
    return replace(preview, needs_admin=found.needs_admin)


def build(
    instance: Instance,
    steps: list[Step],
    is_live: bool,
    lines: list[PlannedLine] | None = None,
    findings: list[InstanceFinding] | None = None,
) -> Preview:
    numbered: list[dict[str, object]] = [
        {"position": position, "kind": step.kind, "name": step.name, "old": step.old, "new": step.new}
        for position, step in enumerate(steps, start=1)
    ]
    restarts = any(step.kind == "restart" for step in steps)
    return Preview(instance.pk, instance.version, is_live, restarts, lines or [], numbered, findings or [])


def _cache_gate(instance: Instance, found: Plan) -> list[InstanceFinding]:
    """Returns the findings that forbid enabling the cache on this instance, if the plan switches it on; changing its
    parameters, also by a template, must pass the same checks as enabling it.
    """
    turned_on = [line for line in found.lines if line.name in TURNS_CACHE_ON and line.new_value not in (None, "0")]
    if not turned_on:
        return []
    obstacle_look_again(instance)
    return [each for each in known_gate_findings(instance) if each.is_blocking]


def is_of_cache(name: str) -> bool:
    return name.startswith(CACHE_PREFIX)


def _waiting(situation: Situation, found: Plan) -> list[PlannedLine]:
    """Returns the planned lines (one per parameter) that take effect only with a restart, without variables that a live
    server does not have.
    """
    is_known = [line for line in found.lines if not (situation.is_live and line.old_value is None)]
    return [line for line in is_known if line.needs_restart]


def _pending(
    instance: Instance, situation: Situation, waiting: list[PlannedLine], allow_restart: bool
) -> list[InstanceFinding]:
    if not waiting or (allow_restart and instance.provider == Provider.LOCAL):
        return []
    remedy = "Allow the restart with this change, or restart the instance later."
    action: Action | None = Action(route="restart")
    if instance.provider == Provider.EXTERNAL:
        remedy = "Write these lines to the server's configuration and restart it with its own tools."
        action = Action(statements=tuple(f"{line.name} = {line.new_value}" for line in waiting))
        if situation.keeps_static:
            remedy, action = "Restart it with its own tools: it keeps what was set for its next start.", None
    names = ", ".join(line.name for line in waiting)
    return [
        InstanceFinding(
            Severity.ADVICE, "pending_restart", "", f"{names} will wait for a restart", "a restart", remedy,
            action=action, facts={"names": names},
        )
    ]  # fmt: skip


def _not_allowed(instance: Instance, situation: Situation, found: Plan) -> list[InstanceFinding]:
    """Returns findings for variables that the instance's account on the server may not set.

    They are checked in advance, so that no change fails halfway.
    """
    names = names_set(found)
    return privileges_to_set(instance, names) if situation.is_live and names else []


def names_set(found: Plan) -> list[str]:
    """Returns the names of the variables that the plan sets on the running server."""
    return [step.name for step in found.steps if step.kind == "set_global"]


def _wrong_rules(found: Plan) -> list[InstanceFinding]:
    """Returns findings for mistakes in the new value of fqc_rules, which the engine would refuse in the middle of the
    change.
    """
    texts = [line.new_value or "" for line in found.lines if line.name == "fqc_rules"]
    errors = [error for text in texts for error in rule_list.parse(text)[1]]
    return [
        InstanceFinding(
            Severity.BLOCKING, "rules_invalid", "fqc_rules", _place(error), error.detail, "Correct the rule.",
            facts={"rule": "all" if error.index is None else f"{error.index + 1} {error.field}", "fault": error.code},
        )
        for error in errors
    ]  # fmt: skip


def _place(error: rule_list.RuleError) -> str:
    if error.index is None:
        return "the list of rules"
    return f"rule {error.index + 1}" + (f", {error.field}" if error.field else "")


def _empties_cache(situation: Situation, found: Plan) -> list[InstanceFinding]:
    """Returns a finding if the change drops cached results of a cache that is on: setting rules does, another size may,
    a restart does.

    A change that switches the cache off has none, since that is expected.
    """
    is_on = not is_off(situation.running.get("query_cache_type")) and situation.running.get("query_cache_size") != "0"
    names = [line.name for line in found.lines if not line.is_running and line.name in EMPTIES_CACHE]
    restarts = ["a restart"] if any(step.kind == "restart" for step in found.steps) else []
    ends = any(line.name in TURNS_CACHE_ON and line.new_value == "0" for line in found.lines)
    why = ", ".join(names + restarts)
    if not is_on or not why or ends:
        return []
    return [
        InstanceFinding(
            Severity.ADVICE, "empties_cache", "", f"this change empties the cache ({why})", "",
            "Apply it at a quiet time: reads go to the server until results are stored again.", facts={"names": why},
        )
    ]  # fmt: skip


def _silent(instance: Instance, situation: Situation) -> list[InstanceFinding]:
    if situation.is_live:
        return []
    return [
        InstanceFinding(
            Severity.ADVICE, "server_silent", "", f"{instance.name} did not respond: old values are the last known",
            "The server must be reachable", "Apply the change when the server is reachable.",
            facts={"name": instance.name},
        )
    ]  # fmt: skip
