"""The classes that ship. Reserves follow no formula: each is stated."""

from typing import Any

from django.db import migrations

MIB, GIB = 1024**2, 1024**3
#           name          cpu  memory       reserve     connections  storage
SHIPPED = [
    ("local.small", 1, 512 * MIB, 0, 60, 10 * GIB),
    ("local.medium", 2, 1 * GIB, 0, 150, 20 * GIB),
    ("fqc.n1.small", 1, 1 * GIB, 0, 300, 20 * GIB),
    ("fqc.n2.small", 1, 2 * GIB, 512 * MIB, 600, 50 * GIB),
    ("fqc.n2.medium", 2, 4 * GIB, 1 * GIB, 1200, 100 * GIB),
    ("fqc.n4.medium", 4, 8 * GIB, 2 * GIB, 2000, 200 * GIB),
    ("fqc.n4.large", 4, 16 * GIB, 4 * GIB, 4000, 500 * GIB),
    ("fqc.n8.large", 8, 32 * GIB, 6 * GIB, 6000, 1000 * GIB),
    ("fqc.n16.large", 16, 64 * GIB, 10 * GIB, 8000, 2000 * GIB),
]


def ship(apps: Any, schema_editor: Any) -> None:
    model = apps.get_model("fleet", "InstanceClass")
    for name, cpu, memory, reserve, connections, storage in SHIPPED:
        model.objects.create(
            id="cls-" + name.replace(".", "-"),
            name=name,
            cpu_count=cpu,
            memory_bytes=memory,
            memory_reserve_bytes=reserve,
            max_connections=connections,
            storage_bytes=storage,
        )


class Migration(migrations.Migration):
    dependencies = [("fleet", "0001_initial")]
    operations = [migrations.RunPython(ship, migrations.RunPython.noop)]
