from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import reduce
from operator import or_

from django.db.models import Count, Q, QuerySet
from django.db.models.fields.json import KeyTransform
from django.utils import timezone

from controlplane.catalogue.selectors import line_list
from controlplane.catalogue.server_variables import line_id
from controlplane.core.errors import NotFound
from controlplane.fleet.models import Instance, InstanceClass, LookFault
from controlplane.fleet.states import State
from controlplane.gateway.product import is_managed

CONNECTED_BY = (
    "id", "provider", "product", "host", "port", "username", "password_sealed", "is_tls_required", "tls_ca",
    "public_key",
)  # fmt: skip
DEFAULT_LINE = "5.7"
ANSWERING = (State.RUNNING, State.CHANGING)
POLLED = (*ANSWERING, State.UNREACHABLE)


def instance_list() -> QuerySet[Instance]:
    return Instance.objects.select_related("instance_class")


def instance_list_counted() -> QuerySet[Instance]:
    """Returns all instances, each with `drifted_count` and `pending_restart_count`: how many of its parameters differ
    from the server, and how many wait for a restart.
    """
    return (
        instance_list()
        .select_related("instance_class", "latest")
        .prefetch_related("look_faults")
        .annotate(
            drifted_count=Count("parameters", filter=Q(parameters__is_drifted=True)),
            pending_restart_count=Count("parameters", filter=Q(parameters__is_pending_restart=True)),
        )
    )


def look_faults() -> QuerySet[LookFault]:
    """Returns the failures of periodic work in the last day on instances that answer, as LookFaults."""
    fresh = timezone.now() - LookFault.LASTS
    return LookFault.objects.filter(at__gt=fresh, instance__state__in=ANSWERING).order_by("instance_id", "duty")


def answers_unusable(instance: Instance) -> str:
    """Returns what of this instance's answers could not be used in the last day, as text; empty if there is nothing, or
    the instance does not answer.
    """
    if instance.state not in ANSWERING:
        return ""
    fresh = timezone.now() - LookFault.LASTS
    return "; ".join(fault.told for fault in instance.look_faults.all() if fault.at > fresh)


def instance_polled() -> QuerySet[Instance]:
    """Returns the instances that polls ask: those that run, change or were unreachable."""
    return instance_list().filter(state__in=POLLED)


def endpoint_list() -> QuerySet[Instance]:
    """Returns the instances that answered last time, with only the columns that a poll needs."""
    return Instance.objects.filter(state__in=ANSWERING).only(*CONNECTED_BY, "engine_version")


def engine_missing() -> QuerySet[Instance]:
    """Returns the instances without the engine whose servers could load it.

    Servers of one product, version and edition are alike in that, so one of each is examined.
    """
    lacking = Instance.objects.filter(minor_version=None)
    kinds = lacking.values("product", "engine_version", "edition").order_by().distinct()
    able = [Q(**kind) for kind in kinds if _could_load(Instance(**kind))]
    return lacking.filter(reduce(or_, able)) if able else lacking.none()


def _could_load(instance: Instance) -> bool:
    return instance.takes_engine and not is_managed(instance.edition)


def instance_tagged(tags: dict[str, str]) -> QuerySet[Instance]:
    return tagged(instance_list(), tags.items())


def tagged(found: QuerySet[Instance], tags: Iterable[tuple[str, str]]) -> QuerySet[Instance]:
    """Returns those of the instances that have all these tags with these values.

    It uses transforms instead of keywords, since a tag may be called `contains`.
    """
    pairs = list(tags)
    columns = {f"tag_{position}": KeyTransform(name, "tags") for position, (name, _) in enumerate(pairs)}
    return found.alias(**columns).filter(**{f"tag_{position}": value for position, (_, value) in enumerate(pairs)})


def instance_get(pk: str, *, counted: bool = False) -> Instance:
    """Returns an instance by id or name; with `counted`, it has the numbers of drifted and pending parameters too.

    Raises NotFound.
    """
    every = instance_list_counted() if counted else instance_list()
    found = every.filter(Q(pk=pk) | Q(name=pk)).order_by("created_at").first()
    if found is None:
        raise NotFound(f"There is no instance {pk}. It may have been deleted: see the list.")
    return found


def fleet_line() -> str:
    """Returns the id of the line (product and release, such as mariadb-10.11) of most instances whose line the
    catalogue has; the managed service's line if there are none.
    """
    versions = Instance.objects.exclude(engine_version="").values_list("engine_version").annotate(count=Count("id"))
    counts: Counter[str] = Counter()
    for version, count in versions.order_by():
        counts[server_line_id(version)] += count
    known = {line.id for line in line_list()}
    return next((line for line, _ in counts.most_common() if line in known), DEFAULT_LINE)


def server_line_id(version: str) -> str:
    """Returns the id of the line (product and release, such as mariadb-10.11) that an `@@version` string belongs to;
    empty if the version does not name a release.
    """
    try:
        return line_id(version)[0]
    except ValueError:
        return ""


def class_get(name: str) -> InstanceClass:
    found = InstanceClass.objects.filter(Q(pk=name) | Q(name=name)).first()
    if found is None:
        raise NotFound(f"There is no instance class {name}. It may have been deleted: see the list.")
    return found
