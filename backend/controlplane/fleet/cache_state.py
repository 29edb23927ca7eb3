"""The state of an instance's cache, from the last look and the newest sample."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ObjectDoesNotExist

from controlplane.catalogue.normal import is_off
from controlplane.fleet.models import Instance

CACHE_STATES = ("no_engine", "off", "on_demand", "on")


def cache_state(instance: Instance) -> dict[str, Any]:
    return {"state": _state(instance), "size_bytes": instance.cache_size_bytes, "used_bytes": _used_bytes(instance)}


def _state(instance: Instance) -> str:
    # Before the first look, while it is being created, it is unknown whether the engine is missing.
    if instance.minor_version is None and instance.last_seen_at is not None:
        return "no_engine"
    if is_server_cache_off(instance):
        return "off"
    return "on_demand" if instance.cache_type in ("2", "DEMAND") else "on"


def is_server_cache_off(instance: Instance) -> bool:
    return is_off(instance.cache_type) or not instance.cache_size_bytes


def _used_bytes(instance: Instance) -> int | None:
    try:
        used = instance.latest.readings.get("used_bytes")
    except ObjectDoesNotExist:
        return None
    return None if used is None or instance.minor_version is None else int(used)
