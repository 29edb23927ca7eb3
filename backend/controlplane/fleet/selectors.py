from __future__ import annotations

from django.db.models import Q, QuerySet

from controlplane.core.errors import NotFound
from controlplane.fleet.models import Instance, InstanceClass
from controlplane.fleet.states import State

POLLED = (State.RUNNING, State.CHANGING, State.UNREACHABLE)


def instance_list() -> QuerySet[Instance]:
    return Instance.objects.select_related("instance_class")


def instance_polled() -> QuerySet[Instance]:
    """The instances that should answer a poll."""
    return instance_list().filter(state__in=POLLED)


def instance_tagged(tags: dict[str, str]) -> QuerySet[Instance]:
    return instance_list().filter(Q(*[Q(**{f"tags__{name}": value}) for name, value in tags.items()]))


def instance_get(pk: str) -> Instance:
    found = instance_list().filter(Q(pk=pk) | Q(name=pk)).order_by("created_at").first()
    if found is None:
        raise NotFound(f"There is no instance {pk}: list them with GET /api/v1/instances.")
    return found


def class_list() -> QuerySet[InstanceClass]:
    return InstanceClass.objects.all()


def class_get(name: str) -> InstanceClass:
    found = InstanceClass.objects.filter(Q(pk=name) | Q(name=name)).first()
    if found is None:
        raise NotFound(f"There is no instance class {name}: list them with GET /api/v1/instance-classes.")
    return found
