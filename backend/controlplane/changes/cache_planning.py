"""Plans enabling the cache: buffer pool to 90 %, size by the chosen rule, then the type; and disabling it."""

from __future__ import annotations

from typing import Any

from controlplane.catalogue.definition import Definition
from controlplane.catalogue.normal import integer, is_off
from controlplane.catalogue.validation import violations
from controlplane.changes.plan import Situation, is_expression_for
from controlplane.changes.planning import Preview, preview_wanted, situation_of
from controlplane.core.errors import Refused
from controlplane.fleet.models import Instance
from controlplane.gateway.errors import NotUsable
from controlplane.gateway.numbers import whole
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.advice import curve_or_kept, suggested_rule
from controlplane.prerequisites.check import instance_check
from controlplane.prerequisites.findings import InstanceFinding
from controlplane.prerequisites.recommendation import size_text
from controlplane.prerequisites.sizing import cache_size_bytes, reduced_expression

POOL, SIZE, TYPE = "innodb_buffer_pool_size", "query_cache_size", "query_cache_type"
OBSERVE = "fqc_observe"


def preview_enable(
    instance: Instance,
    *,
    rule: str | None = None,
    type: int = 1,
    shrink_buffer_pool: bool = True,
    allow_restart: bool = False,
    **sizing: Any,
) -> Preview:
    checked = instance_check(instance)
    instance.refresh_from_db()  # the check stores what it reads about the engine
    situation = situation_of(instance)
    wanted: dict[str, str | None] = {}
    too_small: list[InstanceFinding] = []
    if shrink_buffer_pool and not _has_given_way(instance, situation):
        shrunk, too_small = _shrunk_pool(situation)
        wanted |= {} if too_small else {POOL: shrunk}
    if rule or is_cache_off(situation):
        wanted[SIZE] = str(_size(instance, situation, rule or suggested_rule(instance), sizing))
    wanted[TYPE] = str(type)
    if OBSERVE in situation.configured:
        wanted[OBSERVE] = None
    findings = (*too_small, *(each for each in checked["findings"] if each.severity != "notice"))
    return preview_wanted(instance, situation, wanted, allow_restart=allow_restart, more_findings=_unplanned(findings))


def is_cache_off(situation: Situation) -> bool:
    return is_off(situation.running.get(TYPE)) or situation.running.get(SIZE) in (None, "0")


def _unplanned(findings: tuple[InstanceFinding, ...]) -> tuple[InstanceFinding, ...]:
    """Removes the blocking findings and the memory advice, since the plan finds both again with the values that it
    sets.
    """
    return tuple(each for each in findings if not each.is_blocking and each.code != "memory_tight")


def _shrunk_pool(situation: Situation) -> tuple[str, list[InstanceFinding]]:
    """Returns 90 % of the buffer pool as a value to set, and a finding if that is below the minimum.

    An expression stays an expression, so that it follows the next resize.
    """
    submitted = situation.configured.get(POOL)
    if submitted and is_expression_for(situation.line, POOL, submitted):
        return reduced_expression(submitted), []
    pool_bytes = integer(submitted) if submitted else running_bytes(situation, POOL)
    shrunk = str(pool_bytes * 9 // 10 // 1024 * 1024)
    definition = situation.line.get(POOL)
    is_too_small = definition and any(each.code == "below_minimum" for each in violations(definition, shrunk))
    return shrunk, [_pool_too_small(definition, pool_bytes)] if definition and is_too_small else []


def _pool_too_small(definition: Definition, pool_bytes: int) -> InstanceFinding:
    pool, least = size_text(pool_bytes), size_text(integer(definition.allowed.minimum or "0"))
    return InstanceFinding(
        Severity.ADVICE,
        "pool_not_shrunk",
        POOL,
        seen=f"the buffer pool stays at {pool}: nine tenths of it would be below the minimum of {least}",
        needed="",
        remedy="The cache takes its memory in addition to the buffer pool. Check that the instance has that much.",
        facts={"pool": pool, "least": least},
    )


def _has_given_way(instance: Instance, situation: Situation) -> bool:
    """Returns whether enabling the cache must not shrink the buffer pool: it did so before, or the cache is configured
    as on already.
    """
    return not is_off(situation.configured.get(TYPE)) or _pool_before_enabling(instance) is not None


def running_bytes(situation: Situation, name: str) -> int:
    text = situation.running.get(name)
    if text is None:
        detail = f"{name} is not known because the server did not respond. The prerequisites check says why."
        raise Refused(detail, code="server_silent")
    value = whole(text)
    if value is None:
        raise NotUsable(f"The server reports that its {name} is {text[:40]!r}, which is not a number of bytes.")
    return value


def _size(instance: Instance, situation: Situation, rule: str, sizing: dict[str, Any]) -> int:
    return cache_size_bytes(
        rule,
        pool_bytes=running_bytes(situation, POOL),
        result_set_bytes=sizing.get("result_set_bytes"),
        size_bytes=sizing.get("size_bytes"),
        curve=sizing.get("curve") or _curve(instance, rule),
    )


def _curve(instance: Instance, rule: str) -> list[tuple[int, float]]:
    return curve_or_kept(instance) if rule == "curve" else []


def preview_disable(instance: Instance, *, restore_buffer_pool: bool) -> Preview:
    situation = situation_of(instance)
    wanted: dict[str, str | None] = {TYPE: "0", SIZE: "0"}
    before = _pool_before_enabling(instance) if restore_buffer_pool else None
    if before is not None:
        wanted[POOL] = before
    return preview_wanted(instance, situation, wanted, allow_restart=False)


def _pool_before_enabling(instance: Instance) -> str | None:
    """Returns the buffer pool's size, a number or an expression, from before enabling the cache shrank it; None if that
    was not done, or another value was set since.
    """
    shrinking = (
        instance.changes.filter(kind="enable", state="applied", lines__name=POOL).order_by("-created_at").first()
    )
    line = shrinking and shrinking.lines.filter(name=POOL).first()
    if not line:
        return None
    now = instance.parameters.filter(name=POOL).values_list("submitted", flat=True).first()
    return (line.old_submitted or line.old_value) if now == line.new_submitted else None
