"""Instances for tests of metrics and alerts: rows without servers."""

from __future__ import annotations

from typing import Any

from controlplane.core.ids import new_id
from controlplane.fleet.models import Instance, InstanceClass
from controlplane.fleet.states import Provider, State
from testing.servers import shut_window

GIB = 1024**3


def class_make(name: str = "small") -> InstanceClass:
    return InstanceClass.objects.get_or_create(
        name=name,
        defaults={
            "cpu_count": 1,
            "memory_bytes": GIB,
            "memory_reserve_bytes": 0,
            "max_connections": 100,
            "storage_bytes": 20 * GIB,
        },
    )[0]


def instance_make(**facts: Any) -> Instance:
    facts = {
        "name": new_id("db"),
        "provider": Provider.EXTERNAL,
        "host": "127.0.0.1",
        "port": 3306,
        "username": "fqc",
        "state": State.RUNNING,
        "instance_class": class_make(),
        "window_start": shut_window(),
        **facts,
    }
    password = facts.pop("password", "")
    instance = Instance(**facts)
    instance.password = password
    instance.save()
    return instance
