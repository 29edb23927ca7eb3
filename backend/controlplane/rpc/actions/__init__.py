"""All actions of the dialect. Each is one function, in the module of its noun."""

from __future__ import annotations

from controlplane.rpc.actions.action import Action
from controlplane.rpc.actions.groups import GROUPS
from controlplane.rpc.actions.instances import INSTANCES
from controlplane.rpc.actions.log import LOG
from controlplane.rpc.actions.operations import OPERATIONS
from controlplane.rpc.actions.parameters import PARAMETERS
from controlplane.rpc.actions.performance import PERFORMANCE
from controlplane.rpc.actions.timed_tasks import TIMED_TASKS

ACTIONS: dict[str, Action] = INSTANCES | PARAMETERS | LOG | GROUPS | OPERATIONS | PERFORMANCE | TIMED_TASKS
