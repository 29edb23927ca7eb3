"""Starts and stops all local servers in this process, so that a fleet can be started without a worker."""

from __future__ import annotations

import time
from typing import Any

from controlplane.changes.execution import change_run
from controlplane.changes.instance_services import instance_create
from controlplane.changes.states import ChangeState
from controlplane.fleet.connection import connected
from controlplane.fleet.local import configure_anew, local_server
from controlplane.fleet.models import Instance
from controlplane.fleet.observation import note_identity, read_identity
from controlplane.fleet.selectors import instance_list
from controlplane.fleet.services import instance_forget, instance_state_set
from controlplane.fleet.showing import obstacle_look_again
from controlplane.fleet.states import Provider, State
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.local import LocalServerError
from controlplane.gateway.product import DEFAULT_PRODUCT, MYSQL

CLASS = "local.small"
NAMES = {DEFAULT_PRODUCT.name: "demo-{number}", MYSQL.name: "demo-mysql-{number}"}
MAKE_SECONDS = 600


def _all() -> list[Instance]:
    return list(instance_list().filter(provider=Provider.LOCAL).order_by("created_at", "name"))


def start(count: int, product: str) -> None:
    """Starts every local server, and makes servers of the product until there are `count` demo servers of it.

    Blocks until they run; raises LocalServerError if one does not.
    """
    for instance in _all():
        _start_again(instance)
    for number in range(1, count + 1):
        name = NAMES[product].format(number=number)
        if not Instance.objects.filter(name=name).exists():
            _make(name, product)


def _make(name: str, product: str) -> None:
    instance = instance_create(name=name, provider=Provider.LOCAL, product=product, instance_class=CLASS)
    deadline = time.monotonic() + MAKE_SECONDS
    while instance.state == State.CREATING and time.monotonic() < deadline:
        for change in instance.changes.filter(state=ChangeState.APPROVED):
            change_run(change.pk)  # if a worker has claimed it, wait for the worker
        instance.refresh_from_db()
        time.sleep(0.05)
    if instance.state != State.RUNNING:
        raise LocalServerError(f"{name} is {instance.state}: {instance.state_reason}")


def _start_again(instance: Instance) -> None:
    """Starts a local server that was stopped with its fleet.

    A server whose creation or deletion was interrupted is deleted with its instance instead.
    """
    server = local_server(instance)
    if not server.is_made or instance.state in (State.CREATING, State.DELETING):
        server.remove()
        instance_forget(instance)
        return
    server.accounts_ensure()
    if server.pid is None:
        configure_anew(instance)
        server.start()
        with connected(instance) as connection:
            note_identity(instance, read_identity(connection), is_new_start=True)
    if instance.state in (State.STOPPED, State.UNREACHABLE):
        instance_state_set(instance, State.RUNNING)


def stop() -> None:
    """Stops all local servers. Raises LocalServerError in the end if some could not be stopped."""
    failures = []
    for instance in _all():
        try:
            local_server(instance).stop()
        except (GatewayError, OSError) as error:
            failures.append(f"{instance.name}: {error}")
        else:
            instance_state_set(instance, State.STOPPED, "the local fleet was stopped")
    if failures:
        raise LocalServerError("; ".join(failures))


def reset() -> None:
    for instance in _all():
        local_server(instance).remove()
        instance_forget(instance)


def status() -> list[dict[str, Any]]:
    return [_facts(instance) for instance in _all()]


def _facts(instance: Instance) -> dict[str, Any]:
    server = local_server(instance)
    obstacle_look_again(instance)
    owner, owner_password = server.owner
    return {
        "id": instance.pk,
        "name": instance.name,
        "host": instance.host,
        "port": instance.port,
        "username": instance.username,
        "password": instance.password,
        "public_key": server.public_key,
        "owner": owner,
        "owner_password": owner_password,
        "product": server.product.name,
        "state": instance.state,
        "pid": server.pid,
        "has_engine": instance.minor_version is not None,
        "engine_obstacle": instance.engine_obstacle,
        "folder": str(server.folder),
    }
