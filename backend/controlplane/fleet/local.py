"""The local server behind an instance of the `local` provider."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.conf import settings

from controlplane.catalogue.access import NEVER, access_of
from controlplane.catalogue.line import shipped_names
from controlplane.fleet.definitions import instance_line
from controlplane.fleet.models import Instance
from controlplane.fleet.states import Provider
from controlplane.gateway.local import LocalServer
from controlplane.gateway.names import ENGINE_NAMES
from controlplane.gateway.product import local_product


def local_server(instance: Instance) -> LocalServer:
    product = local_product(instance.product)
    folder, program = settings.LOCAL_ROOT / instance.pk, settings.LOCAL_PROGRAMS.get(product.name, "")
    return LocalServer(folder, instance.port, instance.username, instance.password, product, program)


def public_key_of(instance: Instance) -> str:
    """Returns the public key of the instance's server in PEM; empty if there is none.

    A local server's is read from its own folder.
    """
    return local_server(instance).public_key if instance.provider == Provider.LOCAL else instance.public_key


def accounts_ensure(instance: Instance) -> None:
    """Gives a local server that an earlier version made or started the accounts that this version uses.

    Does nothing for servers elsewhere. Raises LocalServerError.
    """
    if instance.provider == Provider.LOCAL:
        local_server(instance).accounts_ensure()


def configure(instance: Instance, values: Mapping[str, str]) -> None:
    """Writes the option file that a local server reads at its next start, from values by parameter.

    Values that are never set, and names that the server itself does not report, are left out: such a name could be an
    abbreviation of an option. A variable that is left out gets the server's own value.
    """
    allowed = may_set(instance, values)
    known = known_to_server(instance, allowed)
    local_server(instance).configure({name: value for name, value in allowed.items() if name in known})


def may_set(instance: Instance, values: Mapping[str, str]) -> dict[str, str]:
    """Returns the values, by parameter, without those of variables that are never set through this product.

    A server that has such a value from before loses it at the next start.
    """
    line = instance_line(instance)
    known = {name: line.get(name) for name in values}
    access = {name: found.access if found else access_of(name) for name, found in known.items()}
    return {name: value for name, value in values.items() if access[name].who != NEVER}


def known_to_server(instance: Instance, names: Iterable[str]) -> set[str]:
    """Returns those of the names that are variables of the local server.

    For a server that has never answered, they are compared with the shipped names instead.
    """
    told = local_server(instance).variable_names()
    if not told:
        return set(names) & shipped_names()
    return {name for name in names if ENGINE_NAMES.get(name, name) in told}


def configure_anew(instance: Instance) -> None:
    """Writes a local server's option file from the configured parameters, before a start without a change set, since an
    older version may have written the file.
    """
    configure(instance, dict(instance.parameters.values_list("name", "resolved")))
