"""Plans a template for many instances from stored facts: no server is asked.

The parameters of all instances are read in one query, and their newest samples in another. Instances that are alike
share one plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import prefetch_related_objects

from controlplane.accounts.roles import is_by_admin
from controlplane.changes.plan import Plan, Situation, plan
from controlplane.changes.planning import TURNS_CACHE_ON, names_set
from controlplane.fleet.definitions import instance_lines
from controlplane.fleet.models import Instance, PrivilegeLook
from controlplane.fleet.states import Provider
from controlplane.parameters.findings import Finding, Severity
from controlplane.prerequisites.findings import InstanceFinding, of_parameters
from controlplane.prerequisites.gate import gate_findings
from controlplane.prerequisites.privilege_looks import looks_of
from controlplane.prerequisites.privileges import known_privileges_to_set

SAMPLED = {"innodb_buffer_pool_size": "pool_size_bytes", "query_cache_size": "cache_size_bytes"}
UNTOLD = ("is_running", "needs_admin")  # fields of a line that the preview leaves out


@dataclass(frozen=True)
class ItemPreview:
    instance: Instance
    lines: list[dict[str, Any]]
    needs_restart: bool
    needs_admin: bool
    blocking: list[str]  # why the instance cannot be changed, as sentences; empty if it can
    findings: list[InstanceFinding] = field(default_factory=list)  # blocking findings and those about unknown facts


def preview_fleet(
    instances: Sequence[Instance], values: Mapping[str, str], *, allow_restart: bool
) -> list[ItemPreview]:
    prefetch_related_objects(list(instances), "parameters", "latest")
    lines, looks = instance_lines(instances), looks_of(instances)
    alike: dict[Any, Plan] = {}
    previews = []
    for instance in instances:
        situation = _situation(instance, lines)
        key = _key(instance, situation)
        if key not in alike:
            alike[key] = plan(situation, values, allow_restart=allow_restart, by_admin=is_by_admin())
        previews.append(_item(instance, alike[key], looks.get(instance.pk)))
    return previews


def _situation(instance: Instance, lines: Mapping[str, Any]) -> Situation:
    rows = list(instance.parameters.all())
    return Situation(
        line=lines[instance.pk],
        variables=instance.instance_class.variables,
        configured={row.name: row.submitted for row in rows},
        running=_sampled(instance) | {row.name: row.running for row in rows if row.running is not None},
        is_live=False,
        is_local=instance.provider == Provider.LOCAL,
    )


def _sampled(instance: Instance) -> dict[str, str]:
    """Returns running values by parameter, for those that a preview needs although they are not configured: the sizes
    from the newest sample, and the cache's type from the last look at the server.
    """
    try:
        readings = instance.latest.readings
    except ObjectDoesNotExist:
        readings = {}
    sizes = {name: readings.get(gauge) for name, gauge in SAMPLED.items()}
    running = {name: str(int(size)) for name, size in sizes.items() if size is not None}
    return running | ({"query_cache_type": instance.cache_type} if instance.cache_type else {})


def _key(instance: Instance, situation: Situation) -> Any:
    configured, running = tuple(situation.configured.items()), tuple(situation.running.items())
    return id(situation.line), instance.instance_class_id, situation.is_local, configured, running


def _item(instance: Instance, found: Plan, look: PrivilegeLook | None) -> ItemPreview:
    findings = of_parameters(each for each in found.findings if each.severity is Severity.BLOCKING)
    if any(line.name in TURNS_CACHE_ON and line.new_value not in (None, "0") for line in found.lines):
        findings += [each for each in gate_findings(instance) if each.is_blocking]
    if instance.provider != Provider.LOCAL:
        findings += known_privileges_to_set(look, names_set(found))
    lines = [{name: value for name, value in asdict(line).items() if name not in UNTOLD} for line in found.lines]
    needs_restart = any(step.kind == "restart" for step in found.steps)
    return ItemPreview(instance, lines, needs_restart, found.needs_admin, _sentences(findings), findings)


def _sentences(findings: Iterable[InstanceFinding]) -> list[str]:
    """Returns why the instance cannot be changed, one sentence per blocking finding, and then, once for all parameters,
    the statements to run on the server.

    Empty if nothing blocks.
    """
    blocking = [each for each in findings if each.is_blocking]
    granting = [each.action.statements for each in blocking if each.code == "privilege_missing" and each.action]
    return [*map(_reason, blocking), *dict.fromkeys(chain.from_iterable(granting))]


def _reason(finding: Finding) -> str:
    """Returns a finding as a sentence with the parameter's name, since it is shown next to an instance without further
    context.
    """
    about = "" if finding.parameter in finding.seen + finding.needed else f"{finding.parameter}: "
    return f"{about}{finding.seen}; needed: {finding.needed}"
