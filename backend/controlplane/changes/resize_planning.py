"""Plans a move to another class: every configured expression is resolved again; a literal query_cache_size must be
decided on.
"""

from __future__ import annotations

from collections.abc import Mapping

from controlplane.catalogue.normal import is_off
from controlplane.changes.plan import CACHE_TYPE, Situation, Step, is_expression_for, is_never
from controlplane.changes.planning import Preview, preview_wanted, situation_of
from controlplane.fleet.models import Instance, InstanceClass
from controlplane.parameters.findings import Severity
from controlplane.prerequisites.findings import Action, InstanceFinding

SIZE = "query_cache_size"


def preview_resize(
    instance: Instance, target: InstanceClass, decisions: Mapping[str, str | None], allow_restart: bool
) -> Preview:
    situation = situation_of(instance, target)
    follows = {
        name: text
        for name, text in situation.configured.items()
        if is_expression_for(situation.line, name, text) and not is_never(situation.line, name)
    }
    reminder = _undecided(_size(situation), decisions, is_followed=SIZE in follows)
    return preview_wanted(
        instance,
        situation,
        {**follows, **decisions},
        allow_restart=allow_restart,
        first_steps=(Step("set_class", old=instance.instance_class.name, new=target.name),),
        more_findings=tuple(reminder),
    )


def _size(situation: Situation) -> str | None:
    """Returns the cache's size that this instance is configured with, or runs with if none was configured here; None if
    there is none.
    """
    running = situation.running
    return situation.configured.get(SIZE, None if is_off(running.get(CACHE_TYPE)) else running.get(SIZE))


def _undecided(size: str | None, decisions: Mapping[str, str | None], *, is_followed: bool) -> list[InstanceFinding]:
    if size in (None, "0") or SIZE in decisions or is_followed:
        return []
    return [
        InstanceFinding(
            Severity.BLOCKING,
            "cache_size_undecided",
            SIZE,
            seen=f"{SIZE} is fixed at {size} and does not change with the class",
            needed="a decision",
            remedy=f"Name {SIZE} in the request: a new value, an expression, or {size} again to keep it.",
            action=Action(route="resize", body={"parameters": {SIZE: str(size)}}),
            facts={"size": str(size)},
        )
    ]
