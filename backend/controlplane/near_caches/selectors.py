"""Reading near caches."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import QuerySet

from controlplane.fleet.models import Instance
from controlplane.gateway.product import is_managed, local_product
from controlplane.near_caches.models import NearCache, Source
from controlplane.near_caches.ways import EXACT, RULED, modes_of, offers_tls, options


def near_cache_list(instance: Instance) -> QuerySet[NearCache]:
    """Each row knows this instance, without a query of its own."""
    return instance.near_caches.all()


def reporting_near_caches(instance: Instance) -> QuerySet[NearCache]:
    """Those that go on reporting."""
    return NearCache.objects.filter(instance=instance, source=Source.REPORTING, is_attached=True)


def near_modes(instance: Instance) -> list[str]:
    """The modes in which a near cache can serve before this instance, the best one first."""
    return modes_of(
        local_product(instance.product).name,
        instance.engine_version,
        instance.edition,
        has_engine=instance.minor_version is not None,
        takes_engine=instance.takes_engine and not is_managed(instance.edition),
    )


def near_options(instance: Instance, mode: str, variables: Mapping[str, str]) -> dict[str, str]:
    """`variables`: of the server, as far as they are known."""
    product = local_product(instance.product).name
    return options(mode, has_tls=offers_tls(product, instance.engine_version, variables))


def near_mode_to_report(instance: Instance) -> str:
    """The mode of a near cache that reports with a token. The server lists one in exact mode."""
    return next(mode for mode in [*near_modes(instance), RULED] if mode != EXACT)
