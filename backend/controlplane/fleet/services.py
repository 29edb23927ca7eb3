"""Changes to the records of instances and classes. Nothing here alters a server: change sets do that."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from controlplane.accounts.roles import is_by_admin
from controlplane.accounts.services import reporters_end
from controlplane.audit.services import audit_record
from controlplane.core import clock
from controlplane.core.errors import Conflict, Denied, FieldError, Invalid, PasswordRequired
from controlplane.core.etag import ANY_VERSION, IfMatch, row_held
from controlplane.core.events import event_publish
from controlplane.core.hooks import Hook
from controlplane.core.one_at_a_time import one_at_a_time
from controlplane.core.unique_names import name_claimed
from controlplane.fleet.models import Instance, InstanceClass, PrivilegeLook
from controlplane.fleet.states import State
from controlplane.gateway.endpoint import checked_addresses
from controlplane.gateway.errors import RefusedEndpoint, Unreachable
from controlplane.gateway.local import is_free
from controlplane.settings.selectors import settings_get

# Functions that remove what belongs to an instance, called in the transaction that deletes it.
ENDS_WITH_INSTANCE: Hook[Callable[[Instance], None]] = Hook("fleet.services.ENDS_WITH_INSTANCE")
LOCAL_HOST = "127.0.0.1"
CUSTOM = "custom-"  # prefix of the names of classes that were made for one size
MOST_CUSTOM = 500  # operators can make custom classes but not delete them
CLASS_FACTS = ("name", "cpu_count", "memory_bytes", "memory_reserve_bytes", "max_connections", "storage_bytes")
INSTANCE_FACTS = (
    "name", "provider", "host", "port", "username", "trial_username", "is_tls_required", "product", "proxy_enabled",
    "tags", "state", "window_weekday", "window_minutes", "is_catalogue_source",
)  # fmt: skip
OWN_OF_LOCAL = {"password", "trial_username", "trial_password"}
# The facts that decide which server receives the stored password, and how. A change of one requires the password again.
RECEIVER = ("host", "port", "username", "is_tls_required", "tls_ca", "public_key")


def instance_facts(instance: Instance) -> dict[str, Any]:
    facts = {name: getattr(instance, name) for name in INSTANCE_FACTS}
    return {**facts, "window_start": str(instance.window_start), "instance_class": instance.instance_class.name}


def _class_facts(row: InstanceClass) -> dict[str, Any]:
    return {name: getattr(row, name) for name in CLASS_FACTS}


@transaction.atomic
def class_create(**facts: Any) -> InstanceClass:
    with name_claimed(InstanceClass.objects.all(), "a class", facts["name"]):
        row = InstanceClass.objects.create(**facts)
    audit_record("instance_class.created", row, after=_class_facts(row))
    return row


@transaction.atomic
def class_of_size(
    *, cpu_count: int, memory_bytes: int, max_connections: int, storage_bytes: int | None
) -> InstanceClass:
    """Returns the custom class of exactly this size; makes one, named after its size, if there is none.

    Raises Conflict if there are MOST_CUSTOM such classes already.
    """
    size: dict[str, int | None] = {"cpu_count": cpu_count, "memory_bytes": memory_bytes}
    size |= {"max_connections": max_connections, "storage_bytes": storage_bytes}
    found = (
        InstanceClass.objects.filter(**size, memory_reserve_bytes=0, name__startswith=CUSTOM).order_by("name").first()
    )
    if found is not None:
        return found
    if InstanceClass.objects.filter(name__startswith=CUSTOM).count() >= MOST_CUSTOM:
        raise Conflict(
            f"There are {MOST_CUSTOM} classes for one size already: an administrator can delete unused ones.",
            code="too_many_classes",
        )
    name = f"{CUSTOM}{cpu_count}cpu-{_short(memory_bytes)}-{max_connections}"
    taken = InstanceClass.objects.filter(Q(name=name) | Q(name__startswith=f"{name}-")).count()
    return class_create(name=f"{name}-{taken + 1}" if taken else name, memory_reserve_bytes=0, **size)


def _short(size_bytes: int) -> str:
    """Returns a size such as 16GiB. The unit is the largest one that gives a whole number."""
    for unit, name in ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB")):
        if size_bytes % unit == 0:
            return f"{size_bytes // unit}{name}"
    return str(size_bytes)


@transaction.atomic
def class_delete(row: InstanceClass) -> None:
    row = row_held(row)
    if row.instances.exists():
        raise Conflict(f"Class {row.name} is in use: resize its instances first.", code="class_in_use")
    audit_record("instance_class.deleted", row, before=_class_facts(row))
    row.delete()


def endpoint_check(host: str) -> None:
    """Checks that a host may be connected to, before it is stored; every connection checks again.

    Raises Invalid if the name does not resolve, RefusedEndpoint if it is outside the allowed networks. Call it outside
    transactions, since resolving a name may be slow.
    """
    try:
        checked_addresses(host, settings_get().endpoint_networks, settings.CONNECT_TIMEOUT_SECONDS)
    except Unreachable as error:
        raise Invalid.field("host", error.detail) from error
    except RefusedEndpoint as error:
        error.errors = [FieldError("host", error.code, error.detail)]
        raise


@transaction.atomic
def instance_record(*, password: str = "", trial_password: str = "", **facts: Any) -> Instance:
    """Stores a new instance, whose columns are in `facts` and whose endpoint was checked before.

    Does not contact the server: a change set then makes it or connects to it.
    """
    row_held(facts["instance_class"])  # locked, so that the class is not deleted in the meantime
    instance = Instance(**facts)
    instance.password, instance.trial_password = password, trial_password
    with name_claimed(Instance.objects.all(), "an instance", facts["name"]):
        instance.save()
    audit_record("instance.created", instance, after=instance_facts(instance))
    return instance


def instance_update(instance: Instance, changes: dict[str, Any], expected: IfMatch = ANY_VERSION) -> Instance:
    if instance.provider == "local" and (changes.keys() & OWN_OF_LOCAL or _moved(instance, changes)):
        raise Conflict("The endpoint and account of a local instance cannot be changed.", code="local_endpoint")
    if changes.get("is_catalogue_source", instance.describes_line) != instance.describes_line:
        _refuse_as_source(instance)
    if "host" in changes:
        endpoint_check(changes["host"])
    return _instance_update(instance, changes, expected)


def _refuse_as_source(instance: Instance) -> None:
    if instance.provider == "local":
        raise Conflict("A local instance is always a source of definitions.", code="local_source")
    if not is_by_admin():
        raise Denied("Only an administrator decides which servers describe their variables.", code="admin_only")


def _moved(instance: Instance, changes: dict[str, Any]) -> list[str]:
    return [name for name in RECEIVER if changes.get(name, getattr(instance, name)) != getattr(instance, name)]


def _settle_trial_account(instance: Instance, changes: dict[str, Any]) -> None:
    """Edits `changes` so that the password of the trial account, with which statements are tried out, is only sent to
    the server that it was given for.

    Without a new password the trial account is removed, since the instance works without it. Raises PasswordRequired if
    only its name changes.
    """
    if "trial_password" in changes:
        return
    if changes.get("trial_username", instance.trial_username) != instance.trial_username:
        if changes["trial_username"]:
            raise PasswordRequired("trial_password", ["trial_username"])
        changes["trial_password"] = ""
    elif set(_moved(instance, changes)) - {"username"}:
        changes |= {"trial_username": "", "trial_password": ""}


@transaction.atomic
def _instance_update(instance: Instance, changes: dict[str, Any], expected: IfMatch) -> Instance:
    instance = row_held(instance, expected)
    before = instance_facts(instance)
    if "password" not in changes and (moved := _moved(instance, changes)):
        raise PasswordRequired("password", moved)
    if _moved(instance, changes):
        PrivilegeLook.objects.filter(instance=instance).delete()
        changes.setdefault("is_catalogue_source", is_by_admin())
    _settle_trial_account(instance, changes)
    for name, value in {**changes.pop("maintenance_window", {}), **changes}.items():
        setattr(instance, name, value)
    instance.version += 1
    with name_claimed(Instance.objects.exclude(pk=instance.pk), "an instance", instance.name):
        instance.save()
    audit_record("instance.updated", instance, before=before, after=instance_facts(instance))
    return instance


@transaction.atomic(savepoint=False)
def instance_state_set(instance: Instance, state: State, reason: str = "", *, is_version_moved: bool = False) -> None:
    """Stores the state that a change set or a poll found, in the database and in `instance`; a new state is audited and
    published.

    `is_version_moved` invalidates plans made before.
    """
    before = {"state": instance.state, "reason": instance.state_reason}
    moved: dict[str, Any] = {"version": F("version") + 1} if is_version_moved else {}
    if before["state"] != state:
        moved |= {"state_since": clock.shared_now(), "missed_again_at": None}
    Instance.objects.filter(pk=instance.pk).update(state=state, state_reason=reason[:500], **moved)
    instance.state, instance.state_reason = state, reason[:500]
    if before["state"] != state:
        audit_record("instance.state_changed", instance, before=before, after={"state": state, "reason": reason})
        instance_publish(instance)


def instance_publish(instance: Instance) -> None:
    """Publishes an event with the instance's state, so that pages that show the instance refresh."""
    event_publish("instance", instance.pk, {"state": instance.state, "name": instance.name})


@transaction.atomic
def instance_forget(instance: Instance) -> None:
    # The lock keeps other transactions from adding rows about the instance, which would prevent its deletion.
    Instance.objects.select_for_update().get(pk=instance.pk)
    for end in ENDS_WITH_INSTANCE.parts.values():
        end(instance)
    reporters_end(instance.pk)
    audit_record("instance.deleted", instance, before=instance_facts(instance))
    instance.delete()


def local_endpoint() -> dict[str, Any]:
    """Returns host, free port, user name and new password for a local server.

    Must be called in the transaction that stores them: until it ends, no other call gets the same port.
    """
    one_at_a_time("ports of local servers")
    used = set(Instance.objects.filter(provider="local").values_list("port", flat=True))
    ports = range(settings.LOCAL_PORT_BASE, 65536)
    port = next((port for port in ports if port not in used and is_free(port)), None)
    if port is None:
        raise Conflict(f"No port from {ports.start} to {ports[-1]} is free for a local server.", code="no_free_port")
    return {"host": LOCAL_HOST, "port": port, "username": "fqc", "password": secrets.token_urlsafe(24)}
