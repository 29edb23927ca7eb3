"""Plans a change of parameters as lines, findings and ordered steps. Pure.

The order of the steps keeps memory from being over-committed in between: the cache is switched off first and on last,
and parameters that shrink come before those that grow. A value that already runs needs no step.

Only this module decides who may set what (`catalogue.access`): every change of parameters is planned here. Values that
an administrator has configured may be applied again unchanged by anybody, for example after a restart. A parameter that
may never be set is removed from an instance's configuration if it is there from before, and nothing is sent to the
server for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from controlplane.catalogue.definition import Definition
from controlplane.catalogue.line import Line, shipped_names
from controlplane.catalogue.normal import NotOfType, integer, normal
from controlplane.catalogue.sameness import is_same
from controlplane.parameters.findings import Finding, Severity
from controlplane.parameters.memory import SHARED
from controlplane.parameters.resolution import Resolution, resolve, takes_expression

CACHE_TYPE = "query_cache_type"


@dataclass(frozen=True)
class PlannedLine:
    name: str
    unit: str
    old_submitted: str | None  # as it was configured, a literal or an expression; None: it was not configured
    new_submitted: str | None  # None: it is removed from the configuration
    old_value: str | None  # the value that ran when the change was planned; None: unknown
    new_value: str | None
    needs_restart: bool  # the new value takes effect with a restart; false if the server runs it already
    is_running: bool  # the server runs the new value already
    needs_admin: bool = False  # only an administrator may start the change


@dataclass(frozen=True)
class Step:
    kind: str
    name: str = ""
    old: str | None = None
    new: str | None = None


@dataclass(frozen=True)
class Situation:
    """The state of an instance when a change is planned. Values are by parameter."""

    line: Line
    variables: Mapping[str, int]
    configured: Mapping[str, str]  # name to submitted text
    running: Mapping[str, str]
    is_live: bool  # the running values were read from the server just now
    is_local: bool
    is_silent: bool = False  # the server was asked and did not answer; plans for many servers ask none
    keeps_dynamic: bool = False  # the server persists values over a restart, and this account may do that
    keeps_static: bool = False  # the same of variables that take effect with a restart


@dataclass(frozen=True)
class Plan:
    lines: list[PlannedLine] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def needs_admin(self) -> bool:
        return any(line.needs_admin for line in self.lines)


def plan(
    situation: Situation,
    wanted: Mapping[str, str | None],
    *,
    allow_restart: bool,
    by_admin: bool,
    restored: Mapping[str, str] = MappingProxyType({}),
) -> Plan:
    """Plans a change of parameters.

    `wanted` has the texts to configure, by parameter; None removes a parameter from the configuration and sets the
    value in `restored`, or else the default. `by_admin`: an administrator makes the change. Findings of the plan may
    block it; the caller decides.
    """
    set_ = {name: text for name, text in wanted.items() if text is not None or not is_never(situation.line, name)}
    texts = {name: restored.get(name, _text(situation.line, name, text)) for name, text in set_.items()}
    given = {name: text for name, text in texts.items() if text is not None}
    kept = {name: text for name, text in situation.configured.items() if name not in wanted}
    resolution = resolve(situation.line, kept | given, situation.variables, running=situation.running)
    lines = _lines(situation, wanted, resolution)
    running = {line.name for line in lines if line.is_running}
    findings = [each for each in resolution.findings if not each.parameter or each.parameter in wanted]
    findings = [each for each in findings if each.code != "restart_needed" or each.parameter not in running]
    findings += _not_on_server(situation, lines) + _admin_only(lines, by_admin=by_admin)
    findings += _taken_off(situation, lines)
    return Plan(lines, findings, steps_of(lines, situation, allow_restart=allow_restart))


def is_never(line: Line, name: str) -> bool:
    definition = line.get(name)
    return definition is not None and not definition.is_modifiable


def is_taken_off(situation: Situation, line: PlannedLine) -> bool:
    """Returns whether the parameter is only removed from the configuration and not set on the server: it may never be
    set, or the server has no such variable.
    """
    if line.new_submitted is not None:
        return False
    return is_never(situation.line, line.name) or (situation.is_live and line.old_value is None)


def _text(line: Line, name: str, submitted: str | None) -> str | None:
    definition = line.get(name)
    return definition.default if submitted is None and definition else submitted


def _lines(situation: Situation, wanted: Mapping[str, str | None], resolution: Resolution) -> list[PlannedLine]:
    resolved = {value.name: value.resolved for value in resolution.values}
    lines = []
    for name, submitted in wanted.items():
        definition = situation.line.get(name)
        old = situation.configured.get(name)
        if definition is None or (submitted is None and old is None):
            continue
        line = _line(definition, old, submitted, resolved.get(name), situation)
        if line.old_submitted != line.new_submitted or not line.is_running:
            lines.append(line)
    return lines


def _line(
    definition: Definition, old: str | None, new: str | None, value: str | None, situation: Situation
) -> PlannedLine:
    running = situation.running.get(definition.name)
    if new is None and (not definition.is_modifiable or (situation.is_live and running is None)):
        # the server's option file is written without it, which takes effect at the next start
        waits = situation.is_local
        found = shown(definition, running)
        return PlannedLine(definition.name, definition.unit, old, None, found, None, waits, is_running=not waits)
    same = value is not None and running is not None and is_same(definition, value, running, situation.running)
    needs_restart = definition.needs_restart and not same
    return PlannedLine(
        definition.name, definition.unit, old, new, shown(definition, running), value, needs_restart, same,
        needs_admin=definition.is_admin_only and old != new,
    )  # fmt: skip


def shown(definition: Definition, running: str | None) -> str | None:
    try:
        return None if running is None else normal(definition, running)
    except NotOfType:
        return running


def _not_on_server(situation: Situation, lines: list[PlannedLine]) -> list[Finding]:
    """Returns blocking findings for variables that the server does not have, or, if it does not answer, may not have.

    Variables that it had earlier are ignored: it may be another server now.
    """
    to_set = [line for line in lines if not is_never(situation.line, line.name)]
    if situation.is_live:
        return [_not_there(line.name) for line in to_set if line.old_value is None and line.new_submitted is not None]
    if not situation.is_silent:
        return []
    unsure = [line for line in to_set if line.new_submitted is not None and line.name not in shipped_names()]
    return [_not_confirmed(line.name) for line in unsure]


def _not_there(name: str) -> Finding:
    return Finding(
        Severity.BLOCKING, "not_on_server", name, f"the server has no variable {name}",
        "a parameter that this server has", f"Leave out {name} for this instance.",
    )  # fmt: skip


def _not_confirmed(name: str) -> Finding:
    return Finding(
        Severity.BLOCKING, "not_confirmed", name,
        f"the server does not respond, so it is not known whether it has {name}",
        "a response of this server", "Try again when the server responds.",
    )  # fmt: skip


def _admin_only(lines: list[PlannedLine], *, by_admin: bool) -> list[Finding]:
    return [
        Finding(
            Severity.NOTICE if by_admin else Severity.BLOCKING, "admin_only", line.name,
            f"{line.name} is for administrators", "the role admin",
            "Only an administrator can approve or start this change." if by_admin else "Ask an administrator.",
        )
        for line in lines
        if line.needs_admin
    ]  # fmt: skip


def _taken_off(situation: Situation, lines: list[PlannedLine]) -> list[Finding]:
    return [
        Finding(
            Severity.NOTICE, "taken_off", line.name, f"{line.name} is no longer configured",
            "a restart, after which the server uses its own value", "Restart the server at a convenient time.",
        )
        for line in lines
        if is_taken_off(situation, line)
    ]  # fmt: skip


def steps_of(lines: list[PlannedLine], situation: Situation, *, allow_restart: bool) -> list[Step]:
    dynamic = [line for line in lines if not line.needs_restart and not line.is_running]
    steps = [Step("set_global", line.name, line.old_value, line.new_value) for line in sorted(dynamic, key=_turn)]
    steps += _kept(lines, situation)
    if situation.is_local and lines:
        steps.append(Step("write_configuration"))
    waits = any(line.needs_restart for line in lines)
    if situation.is_local and waits and allow_restart:
        steps.append(Step("restart"))
    return steps


def _kept(lines: list[PlannedLine], situation: Situation) -> list[Step]:
    """Returns the steps that persist the new values on the server, for servers that can.

    They come last, so that nothing is persisted that does not run. A step whose value is None removes a persisted
    value.
    """
    return [
        Step("persist", line.name, new=None if line.new_submitted is None else line.new_value)
        for line in lines
        if not is_taken_off(situation, line) and keeps(situation, line)
    ]


def keeps(situation: Situation, line: PlannedLine) -> bool:
    return situation.keeps_static if line.needs_restart else situation.keeps_dynamic


def _turn(line: PlannedLine) -> tuple[int, str]:
    if line.name == CACHE_TYPE:
        return (0 if line.new_value == "0" else 4, line.name)
    if line.name in SHARED:
        return (1 if _number(line.new_value) < _number(line.old_value) else 3, line.name)
    return (2, line.name)


def _number(text: str | None) -> int:
    try:
        return integer(text or "0")
    except NotOfType:
        return 0


def is_expression_for(line: Line, name: str, text: str) -> bool:
    definition = line.get(name)
    return definition is not None and takes_expression(definition, text)
