from __future__ import annotations

from datetime import datetime

from django.db.models import Q, QuerySet

from controlplane.changes.models import ChangeLine, ChangeSet
from controlplane.changes.states import ChangeState, When
from controlplane.core.errors import NotFound
from controlplane.fleet.models import Instance


def is_due(now: datetime) -> Q:
    """Returns the condition for approved changes that are due at `now`.

    A change to run at once does not depend on the clock, which may have been set back.
    """
    return Q(state=ChangeState.APPROVED) & (Q(when=When.NOW) | Q(not_before__lte=now))


def change_list() -> QuerySet[ChangeSet]:
    return ChangeSet.objects.prefetch_related("steps", "lines")


def change_list_of(found: QuerySet[ChangeSet], instance: str) -> QuerySet[ChangeSet]:
    """Returns those of the changes that belong to an instance, given by id or name.

    A deleted instance is found by its name only.
    """
    known = Instance.objects.filter(Q(pk=instance) | Q(name=instance)).values_list("pk", flat=True).first()
    return found.filter(instance=known) if known else found.filter(instance=None, instance_name=instance)


def change_get(pk: str) -> ChangeSet:
    found = ChangeSet.objects.select_related("instance__instance_class", "template").prefetch_related("lines", "steps")
    change = found.filter(pk=pk).first()
    if change is None:
        raise NotFound(f"There is no change set {pk}. It may have been deleted: see the list.")
    return change


def line_list(instance: Instance, name: str) -> QuerySet[ChangeLine]:
    """Returns the lines of this instance's ended changes, that is, the history of its parameters; only of parameter
    `name` if that is not empty.
    """
    lines = (
        ChangeLine.objects.select_related("change").filter(change__instance=instance).exclude(change__finished_at=None)
    )
    return lines.filter(name=name) if name else lines
