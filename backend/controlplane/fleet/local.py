"""The local server behind an instance of the `local` provider."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from controlplane.catalogue.access import NEVER, access_of
from controlplane.fleet.definitions import instance_line
from controlplane.fleet.models import Instance
from controlplane.fleet.states import Provider
from controlplane.gateway.local import LocalServer
from controlplane.gateway.product import local_product


def local_server(instance: Instance) -> LocalServer:
    product = local_product(instance.product)
    folder, program = settings.LOCAL_ROOT / instance.pk, settings.LOCAL_PROGRAMS.get(product.name, "")
    return LocalServer(folder, instance.port, instance.username, instance.password, product, program)


def public_key_of(instance: Instance) -> str:
    """A local server's is in its own folder."""
    return local_server(instance).public_key if instance.provider == Provider.LOCAL else instance.public_key


def accounts_ensure(instance: Instance) -> None:
    """A local server that an earlier version made or started has the accounts that this one connects with."""
    if instance.provider == Provider.LOCAL:
        local_server(instance).accounts_ensure()


def written(instance: Instance, values: Mapping[str, str]) -> dict[str, str]:
    """Without what is never set: a server that has such a value from before runs its own at the next start."""
    line = instance_line(instance)
    known = {name: line.get(name) for name in values}
    access = {name: found.access if found else access_of(name) for name, found in known.items()}
    return {name: value for name, value in values.items() if access[name].who != NEVER}


def configure_anew(instance: Instance) -> None:
    """Before a start without a change set: the file may have been written by an older version of the product."""
    configured = dict(instance.parameters.values_list("name", "resolved"))
    local_server(instance).configure(written(instance, configured))
