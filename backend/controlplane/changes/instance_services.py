"""Instances come and go by change sets too: what makes or deletes a server is a step."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from controlplane.accounts.roles import is_by_admin
from controlplane.catalogue.selectors import line_get
from controlplane.changes import planning
from controlplane.changes.models import ChangeSet
from controlplane.changes.plan import Step, plan
from controlplane.changes.planning import Preview
from controlplane.changes.services import AT_ONCE, change_of_steps, change_request
from controlplane.changes.states import ChangeState, Kind
from controlplane.core.errors import Conflict
from controlplane.core.etag import ANY_VERSION, IfMatch, row_held
from controlplane.fleet import services as fleet
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import DEFAULT_LINE, class_get
from controlplane.fleet.states import Provider
from controlplane.prerequisites.gate import engine_obstacle

# The configuration of a new local server; all other parameters have the server's defaults.
LOCAL_PARAMETERS = {
    "innodb_buffer_pool_size": "{DBInstanceClassMemory*7/10}",
    "max_connections": "{DBInstanceClassConnections}",
}


def instance_create(*, instance_class: str, **facts: Any) -> Instance:
    window = facts.pop("maintenance_window", {})
    line_get(facts.get("engine_line", DEFAULT_LINE))
    fleet.endpoint_check(facts.get("host", fleet.LOCAL_HOST))
    with transaction.atomic():
        if facts["provider"] == Provider.LOCAL:
            facts |= fleet.local_endpoint()
        else:
            facts["is_catalogue_source"] = is_by_admin()
        instance = fleet.instance_record(instance_class=class_get(instance_class), **facts, **window)
        change_request(instance, Kind.CREATE, _preview_create(instance), **AT_ONCE)
    return instance


def _preview_create(instance: Instance) -> Preview:
    if instance.provider == Provider.EXTERNAL:
        return planning.build(instance, [Step("connect")], is_live=False)
    engine = [] if engine_obstacle(instance) else [Step("install_engine")]
    steps = [Step("provision"), *engine, Step("connect")]
    found = plan(planning.situation_of(instance), LOCAL_PARAMETERS, allow_restart=False, by_admin=False)
    return planning.build(instance, steps, is_live=False, lines=found.lines)


@transaction.atomic
def instance_delete(instance: Instance, expected: IfMatch = ANY_VERSION) -> ChangeSet:
    instance = row_held(instance, expected)
    waiting = instance.changes.filter(
        kind=Kind.DELETE, state=ChangeState.PREVIEWED, instance_version=instance.version
    ).first()
    if waiting is not None:
        raise Conflict(
            f"{waiting.pk} deletes {instance.name} as soon as a second person approves it.", code="deletion_waiting"
        )
    return change_of_steps(instance, Kind.DELETE, [Step("deprovision")], "", AT_ONCE)
