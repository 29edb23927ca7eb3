"""Reading near caches."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from django.db.models import QuerySet

from controlplane.fleet.models import Instance
from controlplane.gateway.product import is_managed, local_product
from controlplane.near_caches.models import NearCache, Source
from controlplane.near_caches.ways import EXACT, RULED, is_group_member, modes_of, offers_tls, options

NOT_READ: Mapping[str, str] = MappingProxyType({})


def near_cache_list(instance: Instance) -> QuerySet[NearCache]:
    """Returns the near caches of an instance. Each row's `instance` is this object, without a query of its own."""
    return instance.near_caches.all()


def reporting_near_caches(instance: Instance) -> QuerySet[NearCache]:
    """Returns the near caches that report themselves for this instance, without those that stopped or are silent."""
    return NearCache.objects.filter(instance=instance, source=Source.REPORTING, is_attached=True)


def near_modes(instance: Instance, variables: Mapping[str, str] = NOT_READ) -> list[str]:
    """Returns the modes in which a near cache can serve for this instance (exact, bounded, rules), the best
    one first.

    `variables` are those of the server; without them, the server counts as outside of a replication group.
    """
    return modes_of(
        local_product(instance.product).name,
        instance.engine_version,
        instance.edition,
        has_engine=instance.minor_version is not None,
        takes_engine=instance.takes_engine and not is_managed(instance.edition),
        is_in_group=is_group_member(variables),
    )


def near_options(instance: Instance, mode: str, variables: Mapping[str, str]) -> dict[str, str]:
    """Returns the options of `fqc-near` by name for this instance and mode.

    `variables` are those of the server, as far as they are known.
    """
    product = local_product(instance.product).name
    return options(mode, has_tls=offers_tls(product, instance.engine_version, variables))


def near_mode_to_report(instance: Instance) -> str:
    """Returns the best mode for a near cache that reports with a token.

    That is never exact mode, in which the server lists its near caches itself.
    """
    return next(mode for mode in [*near_modes(instance), RULED] if mode != EXACT)
