"""The instance that an action is about, and its status in the dialect.

From the moment it is requested, a change that is due or at work is a status of its own: a client that polls for
`Running` must not see that status before a worker has started the change.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q
from django.utils import timezone

from controlplane.changes.models import ChangeSet
from controlplane.changes.states import AT_WORK, ChangeState, Kind
from controlplane.core.errors import NotFound
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import instance_get
from controlplane.fleet.states import State
from controlplane.rpc.errors import RpcError

SETTLED = {
    State.CREATING: "Creating",
    State.RUNNING: "Running",
    State.CHANGING: "Modifying",
    State.STOPPED: "Stopped",
    State.UNREACHABLE: "Unreachable",
    State.FAILED: "Failed",
    State.DELETING: "Deleting",
}
UNDER_CHANGE = {
    Kind.CREATE: "Creating",
    Kind.DELETE: "Deleting",
    Kind.RESTART: "Rebooting",
    Kind.RESIZE: "DBInstanceClassChanging",
    Kind.UPGRADE: "EngineVersionUpgrading",
}
MODIFYING = "Modifying"


def instance_of(id: str) -> Instance:
    try:
        return instance_get(id)
    except NotFound as error:
        message = f"There is no instance {id}: DescribeDBInstances lists them."
        raise RpcError("InvalidDBInstanceId.NotFound", message, 404) from error


def idle_instance(id: str) -> Instance:
    """Returns the instance for an action that alters it.

    Raises RpcError if there is none, or while a change is at work or due on it, as the dialect's clients expect.
    """
    instance = instance_of(id)
    status = statuses([instance])[instance.pk]
    if status in {MODIFYING, *UNDER_CHANGE.values()}:
        message = f"The status of {instance.pk} is {status}: wait until it is Running."
        raise RpcError("OperationDenied.DBInstanceStatus", message, 403)
    return instance


def statuses(instances: Iterable[Instance]) -> dict[str, str]:
    """Returns, by instance id, the status of each instance as the dialect names it, with one query."""
    found = {each.pk: SETTLED[State(each.state)] for each in instances}
    due = Q(state__in=AT_WORK) | Q(state=ChangeState.APPROVED, not_before__lte=timezone.now())
    for instance_id, kind in ChangeSet.objects.filter(due, instance__in=found).values_list("instance_id", "kind"):
        found[instance_id] = UNDER_CHANGE.get(kind, MODIFYING)
    return found
