"""The local server behind an instance of the `local` provider."""

from __future__ import annotations

from django.conf import settings

from controlplane.fleet.models import Instance
from controlplane.fleet.states import Provider
from controlplane.gateway.local import LocalServer


def local_server(instance: Instance) -> LocalServer:
    return LocalServer(settings.LOCAL_ROOT / instance.pk, instance.port, instance.username, instance.password)


def accounts_ensure(instance: Instance) -> None:
    """A local server that an earlier version made or started has the accounts that this one connects with."""
    if instance.provider == Provider.LOCAL:
        local_server(instance).accounts_ensure()
